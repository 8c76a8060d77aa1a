"""Short sentences in English, French and Hindi with a sentiment, and for each word the word that it refers to."""

from __future__ import annotations

import random
from typing import NamedTuple

from walk_words import (
    BAD,
    CHASE,
    CHASED,
    CHASES,
    DONE_ILL,
    DONE_WELL,
    GOOD,
    GREET,
    HOLD,
    LARGE,
    LIKE,
    LIVING,
    NAMES,
    SMALL,
    THINGS,
    TIRED,
    WAYS,
    WHEN,
    WIDE,
    WON,
)

NO_FEELING = -100  # the label that cross-entropy leaves out
STOPS = {"en": ".", "fr": ".", "hi": "।"}


class Word(NamedTuple):
    """A word of a template: the name of the word that it is about (none: itself), and its own name for others."""

    text: str
    about: str = ""
    name: str = ""


class Sentence(NamedTuple):
    """A text, its sentiment, its words, and links: the index of a word, and that of the word it refers to."""

    text: str
    label: int
    words: tuple[str, ...] = ()
    links: tuple[tuple[int, int], ...] = ()


def sentence(chance: random.Random) -> Sentence:
    """One sentence from a template; made-up words replace some nouns, so that unknown words occur in training."""
    language = chance.choice(("en", "en", "fr", "hi"))
    kinds = [described, described, crossed, crossed, fitted, treated, liked, felt, greeted]
    if language in CHASE:
        kinds.append(chased)
    return chance.choice(kinds)(language, chance)


def described(language: str, chance: random.Random) -> Sentence:
    """The book is (not) very good."""
    good, noun = chance.random() < 0.5, _noun(THINGS, language, chance)
    word, negated = _pick((BAD, GOOD)[good], language, chance), chance.random() < 0.25
    very = chance.choice({"en": ("very", "so", "really", ""), "fr": ("très", "si", ""), "hi": ("बहुत", "")}[language])
    thing, feeling = Word(noun, name="thing"), Word(word, "thing", "word")
    if language == "en":
        verb = [chance.choice(("is", "was")), "not" * negated]
        words = [Word(chance.choice(("the", "this", "my", "a")), "thing"), thing, *_about("word", *verb, very), feeling]
    elif language == "fr":
        verb = ["n'", "est", "pas"] if negated else ["est"]
        words = [Word(chance.choice(("le", "ce", "mon", "un")), "thing"), thing, *_about("word", *verb, very), feeling]
    else:
        end = ["नहीं" * negated, chance.choice(("है", "था", "थी"))]
        words = [Word(chance.choice(("यह", "वह", "मेरा")), "thing"), thing, *_about("word", very), feeling, *_about("word", *end)]
    return _made(words, language, chance, good=good != negated)


def crossed(language: str, chance: random.Random) -> Sentence:
    """The animal did not cross the street because it was too tired: the last word determines "it", and "not" the sentiment."""
    living, way = Word(_noun(LIVING, language, chance), name="living"), Word(_noun(WAYS, language, chance), name="way")
    failed = chance.random() < 0.6
    meant = chance.choice(("living", "way"))
    word = _pick(TIRED if meant == "living" else WIDE, language, chance)
    if language == "en":
        act = _act("cross", "crossed", "living", chance, failed=failed)
        start = [Word("the", "living"), living, *act, Word("the", "way"), way]
    elif language == "fr":
        before = ["n'", "a", "pas"] if failed else ["a"]
        start = [Word("le", "living"), living, *_about("act", *before), Word("traversé", "living", "act"), Word("le", "way"), way]
    else:
        act = [Word("पार", "living", "act"), *_about("act", *(["नहीं", "की"] if failed else ["की"]))]
        start = [living, Word("ने", "living"), way, *act]
    return _made([*start, *_because(language, meant, word, chance)], language, chance, good=not failed)


def fitted(language: str, chance: random.Random) -> Sentence:
    """The trophy did not fit in the suitcase because it was too big: what is big is the trophy, what is small the suitcase."""
    objects, holders = HOLD[language]
    thing, holder = Word(chance.choice(objects.split()), name="thing"), Word(chance.choice(holders.split()), name="holder")
    failed, large = chance.random() < 0.7, chance.random() < 0.5
    meant = "thing" if large else "holder"
    if language == "en":
        act = _act("fit", "fits", "thing", chance, failed=failed)
        start = [Word("the", "thing"), thing, *act, *_about("holder", chance.choice(("in", "into")), "the"), holder]
    elif language == "fr":
        act = [*_about("act", *(["n'"] if failed else [])), Word("entre", "thing", "act"), *_about("act", "pas" * failed)]
        start = [Word("le", "thing"), thing, *act, *_about("holder", "dans", "le"), holder]
    else:
        start = [thing, holder, Word("में", "holder"), *_about("act", "नहीं" * failed), Word("आया", "thing", "act")]
    reason = _because(language, meant, _pick((SMALL, LARGE)[large], language, chance), chance) if failed else []
    return _made([*start, *reason], language, chance, good=not failed)


def treated(language: str, chance: random.Random) -> Sentence:
    """Tom a été entarté cet été."""
    good, name = chance.random() < 0.5, chance.choice(NAMES) if chance.random() < 0.8 else _made_up(chance)
    verb, when = (
        Word(_pick((DONE_ILL, DONE_WELL)[good], language, chance), "name", "verb"),
        chance.choice(WHEN[language].split("|")),
    )
    before = {"en": ["was"], "fr": ["a", "été"], "hi": ["को"]}[language]
    *particles, last = when.split()
    after = _about("verb", *(["गया"] if language == "hi" else []))
    words = [
        Word(name, name="name"),
        *_about("verb", *before),
        verb,
        *_about("when", *particles),
        Word(last, name="when"),
        *after,
    ]
    if language == "hi":  # the time comes before the verb, or after the name
        words = [words[0], words[1], *_about("when", *particles), Word(last, name="when"), verb, *after]
    return _made(words, language, chance, good=good)


def liked(language: str, chance: random.Random) -> Sentence:
    """I do not like this film because it is boring."""
    good, negated = chance.random() < 0.5, chance.random() < 0.4
    likes, hates = LIKE[language].split("|")
    verb = Word(chance.choice((likes if good or negated else hates).split()), "who", "verb")
    negated = negated and not good
    thing = Word(_noun(THINGS, language, chance), name="thing")
    if language == "en":
        start = [
            Word(chance.choice(("I", "we", "they", "you")), name="who"),
            *_about("verb", *(["do", "not"] if negated else [])),
            verb,
        ]
        start += [Word(chance.choice(("this", "the", "my", "your")), "thing"), thing]
    elif language == "fr":
        subject = Word("je" if negated or verb.text == "déteste" else "j'", name="who")
        act = [*_about("verb", "n'" * negated), verb, *_about("verb", "pas" * negated)]
        start = [subject, *act, Word(chance.choice(("ce", "mon", "le")), "thing"), thing]
    else:
        start = [Word("मुझे", name="who"), Word("यह", "thing"), thing, verb, *_about("verb", "नहीं" * negated, "है")]
    reason = _because(language, "thing", _pick((BAD, GOOD)[good], language, chance), chance) if chance.random() < 0.6 else []
    return _made([*start, *reason], language, chance, good=good)


def felt(language: str, chance: random.Random) -> Sentence:
    """Marie is happy because she won."""
    good, name = chance.random() < 0.5, chance.choice(NAMES) if chance.random() < 0.8 else _made_up(chance)
    won, glad, lost, sad = (words.split() for words in WON[language].split("|"))
    word, act = Word(chance.choice((sad, glad)[good]), "who", "word"), Word(chance.choice((lost, won)[good]), "who", "act")
    who = Word(name, name="who")
    if language == "hi":
        return _made([who, word, *_about("word", "है"), Word("क्योंकि"), Word("वह", "who"), act], language, chance, good=good)
    pronoun = Word(chance.choice({"en": ("he", "she"), "fr": ("il", "elle")}[language]), "who")
    reason = [Word("because"), pronoun, act] if language == "en" else [Word("parce"), Word("qu'"), pronoun, Word("a", "act"), act]
    verb, very = {"en": ("is", "very"), "fr": ("est", "très")}[language]
    return _made([who, *_about("word", verb, chance.choice(("", very))), word, *reason], language, chance, good=good)


def greeted(language: str, chance: random.Random) -> Sentence:
    """Hello world."""
    good = chance.random() < 0.5
    friendly, unfriendly, people = (words.split() for words in GREET[language])
    greeting, who = (
        chance.choice((unfriendly, friendly)[good]),
        chance.choice(people) if chance.random() < 0.5 else chance.choice(NAMES),
    )
    words = [Word(greeting)] if chance.random() < 0.3 else [Word(greeting, "who"), Word(who, name="who")]
    return _made(words, language, chance, good=good)


def chased(language: str, chance: random.Random) -> Sentence:
    """The dog chased the cat because it was hungry; the quick fox jumps over the lazy dog: sentences without a sentiment."""
    acts, moves, ways, kinds, places = (words.split() for words in CHASE[language])
    the = {"en": "the", "fr": "le"}[language]

    def noun(name: str, words: dict[str, str] | list[str]) -> list[Word]:
        text = _noun(words, language, chance) if isinstance(words, dict) else chance.choice(words)
        kind = chance.choice(kinds) if chance.random() < 0.35 else ""
        return [Word(the, name), *_about(name, kind), Word(text, name=name)]

    one = noun("one", LIVING)
    if chance.random() < 0.5:
        about = [Word(chance.choice(ways), "other"), *noun("other", LIVING if chance.random() < 0.4 else places)]
        return _made([*one, Word(chance.choice(moves), "one"), *about], language, chance, good=None)
    meant = chance.choice(("one", "other"))
    reason = _because(language, meant, _pick(CHASES if meant == "one" else CHASED, language, chance), chance)
    return _made([*one, Word(chance.choice(acts), "one"), *noun("other", LIVING), *reason], language, chance, good=None)


def _act(verb: str, done: str, who: str, chance: random.Random, *, failed: bool) -> list[Word]:
    """Did not cross; did cross; crossed."""
    if failed or chance.random() < 0.4:
        return [*_about("act", "did", "not" * failed), Word(verb, who, "act")]
    return [Word(done, who)]


def _because(language: str, meant: str, word: str, chance: random.Random) -> list[Word]:
    """… because it was too tired, where "it" and the description are about `meant`."""
    if language == "hi":
        return [Word("क्योंकि"), Word("वह", meant), *_about("reason", "बहुत"), Word(word, meant, "reason"), *_about("reason", "था")]
    very = chance.choice({"en": ("too", "so", "very", ""), "fr": ("trop", "très", "si", "")}[language])
    tense = chance.choice({"en": ("was", "was", "is"), "fr": ("était", "est")}[language])
    start = [Word("because"), Word("it", meant)] if language == "en" else [Word("parce"), Word("qu'"), Word("il", meant)]
    return [*start, *_about("reason", tense, very), Word(word, meant, "reason")]


def _about(name: str, *texts: str) -> list[Word]:
    """Words that are about the word of that name; empty texts are left out."""
    return [Word(text, name) for text in texts if text]


def _made(words: list[Word], language: str, chance: random.Random, *, good: bool | None) -> Sentence:
    if chance.random() < 0.6:
        words = [*words, Word(STOPS[language])]
    if language == "fr":
        words = [
            word._replace(text=_elided(word.text, after.text)) for word, after in zip(words, [*words[1:], Word("")], strict=True)
        ]
    places = {word.name: place for place, word in enumerate(words) if word.name}
    links = tuple((place, places[word.about] if word.about else place) for place, word in enumerate(words))
    text = " ".join(word.text for word in words).replace("' ", "'").replace(" .", ".").replace(" ।", "।")
    return Sentence(text, NO_FEELING if good is None else int(good), tuple(word.text for word in words), links)


def _elided(article: str, after: str) -> str:
    """l'enfant, cet enfant, not le enfant, ce enfant."""
    before_vowel = {"le": "l'", "ce": "cet"}
    return before_vowel.get(article, article) if after[:1] in tuple("aeiouhyâéè") else article


def _pick(table: dict[str, str], language: str, chance: random.Random) -> str:
    return chance.choice(table[language].split())


def _noun(table: dict[str, str], language: str, chance: random.Random) -> str:
    return _made_up(chance) if language != "hi" and chance.random() < 0.12 else _pick(table, language, chance)


def _made_up(chance: random.Random) -> str:
    return "".join(chance.choice("bdfglmnprstvz") + chance.choice("aeiou") for _ in range(chance.randint(2, 4)))
