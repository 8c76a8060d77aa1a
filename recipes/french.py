"""French sentences from templates with English questions about them; names, verbs, times and places, some kept for the test."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, TypeAlias

Question: TypeAlias = Literal["who", "what", "when", "where"]

# Before the bar: for training. After it: for the test alone.
MEN = """Paul Pierre Marc Luc Jean Hugo Louis Jules Émile André René José Rémi Henri Thierry Ali Jacques Nicolas Mathieu Simon
Antoine Bernard Didier Gérard Olivier Vincent Xavier Yves Jean-Paul Félix Gabriel Arthur Noé Théo Dimitri
| Tom Georges Étienne Zoltan Honoré Éloi Barnabé Loulou Victor Quentin Jean-Luc Maxime Kévin Amadou Dédé Boris"""
WOMEN = """Marie Julie Anne Claire Sophie Camille Lucie Zoé Chloé Renée Aimée Inès Jeanne Louise Emma Léa Manon Sarah Fatima Nadia
Odile Paulette Marie-Claire Hélène Estelle Noémie Lou Mimi Yvonne Agathe | Amélie Désirée Brigitte Salomé Élodie Maëlle
Juliette Aïcha Dorothée Margot Anne-Sophie Ophélie"""
VERBS = """applaudi invité embauché félicité arrêté battu élu vu reconnu mordu puni averti choisi trahi surpris pris blessé
soigné sauvé chassé grondé photographié interrogé récompensé cherché trouvé appelé rappelé salué copié nommé entendu perdu vendu
attendu servi guéri | entarté chatouillé aspergé ébloui vaincu accueilli embrassé défendu congédié promu béni décoré"""
ACTIVE = """mangé préparé acheté vendu fini lu perdu réparé cassé lavé choisi | dessiné rempli tordu goûté volé"""
OBJECTS = "une pomme|le gâteau|la voiture|un livre|les fenêtres|son vélo|une lettre|la soupe|le mur|des fleurs".split("|")
TIMES = """cet été|cet hiver|cet automne|ce printemps|ce matin|ce soir|cette nuit|cette semaine|cette année|ce mois|hier|hier soir
|demain|aujourd'hui|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|en janvier|en mars|en avril|en mai|en juin|en juillet
|en août|en septembre|en octobre|en novembre|en décembre|en été|au printemps|à midi|à minuit|à Noël|mardi dernier|l'an dernier
|la semaine dernière|le mois dernier|en 1998|en 2007|en 2024
!avant-hier|en février|ce week-end|à Pâques|cet après-midi|à l'aube|en 1871|ce trimestre"""
PLACES = """à Paris|à Lyon|au marché|dans la rue|devant la mairie|à l'école|au stade|en ville|à la gare|chez le boulanger
|sous le pont|à Bruxelles|dans le jardin|sur la place
!à Marseille|au théâtre|dans le couloir|derrière la poste|à l'usine|sur le quai"""
AGENTS = "par un clown|par la police|par ses amis|par le maire|par des inconnus".split("|")
AUXILIARIES = ("a été", "a été", "a été", "sera", "fut", "est")

ASKED: dict[Question, tuple[str, ...]] = {
    "who": ("Who was it?", "Who is it about?", "Who was {verb}?", "Who was {english} {when}?", "Who?"),
    "what": (
        "What happened to {name}?",
        "What happened?",
        "What was done to {name}?",
        "What happened to {name} {when}?",
        "What did {name} do?",
    ),
    "when": ("When was {name} {verb}?", "When did it happen?", "When was {name} {english}?", "When did this happen to {name}?"),
    "where": ("Where was {name} {verb}?", "Where did it happen?", "Where was {name} {english}?", "Where?"),
}
ENGLISH = "seen|thanked|hit with a pie|invited|found by the neighbours|punished|chosen|helped|there|sick".split("|")
MADE_UP = ("b c d f g l m n p r s t v z ch br tr pl".split(), "a e i o u é ou an on in".split())


@dataclass(frozen=True)
class Asked:
    """A sentence with a question, as the one text that a model reads, and where the word that answers it ends."""

    text: str
    kind: Question
    question_at: int  # the character at which the question begins
    answer_at: int  # the last character of the word that answers


@dataclass(frozen=True)
class Words:
    """The parts of sentences."""

    men: tuple[str, ...]
    women: tuple[str, ...]
    verbs: tuple[str, ...]
    active: tuple[str, ...]
    times: tuple[str, ...]
    places: tuple[str, ...]
    made_up: float = 0.0  # the share of made-up names and verbs


def _halves(text: str, between: str | None, bar: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    seen, unseen = (tuple(word.strip() for word in half.split(between)) for half in text.replace("\n", " ").split(bar))
    return seen, unseen


_LISTS = [
    *(_halves(text, None, "|") for text in (MEN, WOMEN, VERBS, ACTIVE)),
    *(_halves(text, "|", "!") for text in (TIMES, PLACES)),
]
SEEN = Words(*(seen for seen, _ in _LISTS))
UNSEEN = Words(*(unseen for _, unseen in _LISTS))


def ask(words: Words, chance: random.Random, kind: Question) -> Asked:
    """One sentence with one question about it."""
    name, feminine = _name(words, chance)
    active = chance.random() < 0.15
    verb = _verb(words, chance, active=active) + ("e" if feminine and not active else "")
    time, place = chance.choice(words.times), chance.choice(words.places)
    parts: list[tuple[Question | None, str]] = [
        ("who", name),
        (None, "a" if active else chance.choice(AUXILIARIES)),
        ("what", verb),
    ]
    if active:
        parts.append((None, chance.choice(OBJECTS)))
    elif chance.random() < 0.15:
        parts.append((None, chance.choice(AGENTS)))
    if kind == "where" or chance.random() < 0.25:
        parts.append(("where", place))
    front = chance.random() < 0.2
    parts.insert(0 if front else chance.choice((len(parts), len(parts), 3)), ("when", time))
    sentence, ends = _written(parts, comma=front)
    sentence += chance.choice((".", ".", ".", "", " :", ","))
    asked = chance.choice(ASKED[kind]).format(name=name, verb=verb, when=time, english=chance.choice(ENGLISH))
    asked = asked if chance.random() < 0.85 else asked[0].lower() + asked[1:].rstrip("?")
    return Asked(f"{sentence} {asked}", kind, len(sentence) + 1, ends[kind])


def _written(parts: list[tuple[Question | None, str]], *, comma: bool) -> tuple[str, dict[Question, int]]:
    """The parts as a sentence, and for each question the last character of its answer."""
    sentence, ends = "", {}
    for place, (role, phrase) in enumerate(parts):
        phrase = phrase[0].upper() + phrase[1:] if place == 0 else phrase
        sentence += f"{' ' if sentence else ''}{phrase}"
        if role is not None:
            ends[role] = len(sentence) - 1
        sentence += "," if comma and place == 0 else ""
    return sentence, ends


def _name(words: Words, chance: random.Random) -> tuple[str, bool]:
    feminine = chance.random() < 0.5
    if chance.random() < words.made_up:
        return made_up(chance).capitalize(), feminine
    return chance.choice(words.women if feminine else words.men), feminine


def _verb(words: Words, chance: random.Random, *, active: bool) -> str:
    if chance.random() < words.made_up:
        return made_up(chance) + chance.choice(("té", "é", "é", "i", "u"))
    return chance.choice(words.active if active else words.verbs)


def made_up(chance: random.Random) -> str:
    """Two or three syllables that are not a word, as far as we know."""
    first, second = MADE_UP
    return "".join(chance.choice(first) + chance.choice(second) for _ in range(chance.choice((1, 2, 2, 3)))) + chance.choice(
        first
    )


def lexicon() -> list[str]:
    """Every word that can occur in a sentence or a question, except made-up ones."""
    asked = [form.format(name="", verb="", when="", english="") for forms in ASKED.values() for form in forms]
    texts = [*AUXILIARIES, *OBJECTS, *AGENTS, *ENGLISH, *asked, *(form.lower() for form in asked)]
    for words in (SEEN, UNSEEN):
        texts += [*words.men, *words.women, *words.active, *words.times, *words.places]
        texts += [form for verb in words.verbs for form in (verb, f"{verb}e")]
    texts += [text[0].upper() + text[1:] for words in (SEEN, UNSEEN) for text in words.times]
    return texts
