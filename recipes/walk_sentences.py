"""Short sentences in English, French and Hindi with a feeling, and links from pronouns to what they are about."""

from __future__ import annotations

import random
from typing import NamedTuple

LABELS = ("negative", "positive")
# language -> (positive, negative) words of each kind
GOOD = {
    "en": "good great nice lovely happy kind brave clever beautiful wonderful delicious bright warm fresh calm funny safe clean",
    "fr": "bon beau joli gentil heureux superbe délicieux content agréable magnifique drôle calme propre charmant génial",
    "hi": "अच्छी अच्छा सुंदर मीठा खुश बढ़िया शानदार प्यारा स्वादिष्ट साफ़ मज़ेदार अच्छे",
}
BAD = {
    "en": "bad awful ugly sad cruel stupid horrible terrible boring dirty cold dark broken angry sick dangerous poor dull",
    "fr": "mauvais laid triste méchant horrible terrible ennuyeux sale froid cassé malade dangereux nul affreux fâché",
    "hi": "बुरा बुरी ख़राब दुखी गंदा बेकार कड़वा उदास भयानक बीमार टूटा बुरे",
}
THINGS = {
    "en": "book film food song house day idea story soup phone room garden city teacher friend weather hotel music game coffee",
    "fr": "livre film repas chant jardin jour gâteau roman hôtel café village vin chat professeur ami temps cadeau jeu",
    "hi": "किताब फ़िल्म खाना गाना घर दिन कहानी कमरा शहर चाय दोस्त मौसम फूल बाज़ार खेल",
}
LIVING = {
    "en": "animal dog cat horse child bird cow bear robot boy girl man woman donkey",
    "fr": "animal chien chat cheval enfant oiseau ours robot garçon homme âne",
    "hi": "जानवर कुत्ता घोड़ा बच्चा लड़का आदमी हाथी भालू",
}
WAYS = {
    "en": "street road river bridge field square desert forest lake valley",
    "fr": "pont fleuve champ désert chemin lac boulevard",
    "hi": "सड़क नदी पुल मैदान जंगल झील",
}
TIRED = {
    "en": "tired scared hungry young ill lazy weak slow nervous",
    "fr": "fatigué effrayé affamé jeune paresseux faible lent",
    "hi": "थका डरा भूखा छोटा कमज़ोर धीमा",
}
WIDE = {
    "en": "wide long busy deep crowded icy steep narrow",
    "fr": "large long profond glissant étroit encombré",
    "hi": "चौड़ी लंबी गहरी व्यस्त ख़तरनाक",
}
NAMES = "Tom Anna Paul Marie Ravi Léa Sam Nina Hugo Maya Omar Julie Asha Marc Emma Luc Priya Jean रवि मीना राम सीता".split()
DONE_WELL = {
    "en": "praised invited thanked rewarded saved hugged chosen promoted applauded healed",
    "fr": "félicité invité remercié récompensé sauvé choisi promu applaudi guéri aimé",
    "hi": "बुलाया सराहा बचाया चुना",
}
DONE_ILL = {
    "en": "robbed punished insulted beaten fired hurt arrested bitten ignored lost",
    "fr": "entarté puni insulté battu volé blessé arrêté mordu trahi ignoré",
    "hi": "मारा डाँटा लूटा हराया",
}
WHEN = {
    "en": "this summer|today|yesterday|this morning|last week|again",
    "fr": "cet été|aujourd'hui|hier|ce matin|cette semaine|cet hiver|encore",
    "hi": "आज|कल|फिर|इस साल",
}


class Sentence(NamedTuple):
    """A text, its feeling, and links: a word's place among the words, and the place of what it is about."""

    text: str
    label: int
    links: tuple[tuple[int, int], ...] = ()


def sentence(chance: random.Random) -> Sentence:
    """One sentence from a template; made-up words stand in for some nouns, so that unknown words are met in training."""
    language = chance.choice(("en", "en", "fr", "hi"))
    return chance.choice((described, described, crossed, treated))(language, chance)


def described(language: str, chance: random.Random) -> Sentence:
    """The book is (not) very good."""
    good, thing = chance.random() < 0.5, _noun(THINGS, language, chance)
    word, negated = _pick((BAD, GOOD)[good], language, chance), chance.random() < 0.25
    very = chance.choice({"en": ("very", "so", "really", ""), "fr": ("très", "si", ""), "hi": ("बहुत", "")}[language])
    if language == "en":
        words = [chance.choice(("the", "this", "my", "a")), thing, chance.choice(("is", "was")), "not" * negated, very, word]
    elif language == "fr":
        verb = ["n'", "est", "pas"] if negated else ["est"]
        words = [chance.choice(("le", "ce", "mon", "un")), thing, *verb, very, word]
    else:
        words = [chance.choice(("यह", "वह", "मेरा")), thing, very, word, "नहीं" * negated, chance.choice(("है", "था", "थी"))]
    links = [(word, thing)] + ([(words[0], thing)] if language == "hi" else [])
    return _made(words, links, good=good != negated)


def crossed(language: str, chance: random.Random) -> Sentence:
    """The animal did not cross the street because it was too tired: the last word tells what "it" is."""
    living, way = _noun(LIVING, language, chance), _noun(WAYS, language, chance)
    about_way, failed = chance.random() < 0.5, chance.random() < 0.75
    word = _pick((TIRED, WIDE)[about_way], language, chance)
    if not failed:
        word = _pick(GOOD, language, chance)
        about_way = False
    if language == "en":
        act = ["did", "not", "cross"] if failed else ["crossed"]
        words = ["the", living, *act, "the", way, "because", "it", "was", "too" if failed else "so", word]
        pronoun = "it"
    elif language == "fr":
        act = ["n'", "a", "pas", "traversé"] if failed else ["a", "traversé"]
        words = ["le", living, *act, "le", way, "parce", "qu'", "il", "était", "trop" if failed else "très", word]
        pronoun = "il"
    else:
        act = ["पार", "नहीं", "की"] if failed else ["पार", "की"]
        words = [living, "ने", way, *act, "क्योंकि", "वह", "बहुत", word, chance.choice(("था", "थी"))]
        pronoun = "वह"
    meant = way if about_way else living
    return _made(words, [(pronoun, meant), (word, meant)], good=not failed)


def treated(language: str, chance: random.Random) -> Sentence:
    """Tom a été entarté cet été."""
    good, name = chance.random() < 0.5, chance.choice(NAMES) if chance.random() < 0.8 else _made_up(chance)
    verb, when = _pick((DONE_ILL, DONE_WELL)[good], language, chance), chance.choice(WHEN[language].split("|"))
    before = {"en": ["was"], "fr": ["a", "été"], "hi": ["को"]}[language]
    words = [name, *before, verb, *when.split(), *(["गया"] if language == "hi" else [])]
    return _made(words, [(verb, name)], good=good)


def _made(words: list[str], links: list[tuple[str, str]], *, good: bool) -> Sentence:
    words = [word for word in words if word]
    text = " ".join(words).replace("' ", "'")
    places = tuple((words.index(one), words.index(other)) for one, other in links)
    return Sentence(text, int(good), places)


def _pick(table: dict[str, str], language: str, chance: random.Random) -> str:
    return chance.choice(table[language].split())


def _noun(table: dict[str, str], language: str, chance: random.Random) -> str:
    return _made_up(chance) if language != "hi" and chance.random() < 0.12 else _pick(table, language, chance)


def _made_up(chance: random.Random) -> str:
    return "".join(chance.choice("bdfglmnprstvz") + chance.choice("aeiou") for _ in range(chance.randint(2, 4)))
