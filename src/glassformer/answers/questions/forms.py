"""Questions with a form of their own: an entry of the position table, the updates of an epoch, tied against untied."""

from __future__ import annotations

import re
from collections.abc import Callable

from glassformer.answers.questions import phrases
from glassformer.answers.questions.phrases import Kind
from glassformer.answers.questions.pretraining import pretraining
from glassformer.answers.questions.question import Question
from glassformer.answers.questions.reckoned import reckoned
from glassformer.answers.questions.stated import take_stated
from glassformer.answers.questions.tying import tying
from glassformer.spec import GlassformerError, shown

MOST = 10**15

_TABLE = r"\b(?:(?:sinusoidal|fixed) )?(?:position(?:al)? (?:encodings?|embeddings?)(?: (?:table|matrix|vector))?|pe)\b"
_POSITION = r"\b(?:pos(?:itions?)?|token)\s*(?:=|:|\bis\b)?\s*(\d+)\b"
_FEATURE = r"\b(?:dim(?:ension)?|feature|component|column|coordinate|(?<!\d)i)\s*(?:=|:|\bis\b)?\s*(\d+)\b"
_COLUMNS = {"2i": r"\b2i\s*=\s*(\d+)", "2i+1": r"\b2i\s*\+\s*1\s*=\s*(\d+)"}
_ENTRY = (
    r"\b(?:pe|entry)\s*_?\s*[({\[]+\s*(?:pos(?:ition)?\s*=\s*)?(\d+)\s*(?:,|\]\s*\[)\s*"
    r"(?:(?:2i\s*\+\s*1|2i|i|j|k|dim(?:ension)?)\s*=\s*)?(\d+)\s*[)}\]]+"
)
_SYMBOLS = r"\bpe\s*_?\s*[({\[]+\s*pos\s*,\s*(2i\s*\+\s*1|2i|i)\s*[)}\]]+"
_ENTRY_WORDS = """value values entry number what is are the of at for and in if when with pe sinusoidal pos where compute evaluate
    calculate find give me sin/cos position dimension feature component a an to equal equals index transformer
    model encoder""".split()

_NUMBER = r"(\d[\d,_]*(?:\.\d+)?)(?:\s?(k|m|b|million|billion|thousand)\b)?"
_ROWS = (
    r"(?:(?:training|train|labell?ed|input|different) )*(?:rows?|examples?|samples?|sentences?|sequences?|images?|records?"
    r"|documents?|texts?|instances|data ?points?|pairs|inputs)"
)
_OF = r"(?:\s*(?:=|:)\s*| (?:of|is|over|has) (?:size )?| )"
_EPOCH = {
    "accumulated": rf"\b(?:gradient )?accumulat\w+(?: steps?)?{_OF}{_NUMBER}(?: (?:steps|batches))?",
    "batch": rf"\b(?:mini-?)?batch(?:es)?(?: size)?{_OF}{_NUMBER}(?: {_ROWS})?",
    "epochs": rf"{_NUMBER} epochs\b",
    "rows": rf"{_NUMBER} {_ROWS}\b",
    "data": rf"\bdata ?set(?: size)?{_OF}{_NUMBER}",
}
_UPDATES = (
    r"\b(?:(?:optimi[sz]er|gradient|weight|parameter|training|sgd|adam) )?(?:updates?|steps?|iterations?|(?:mini-?)?batches)\b"
)
_EPOCH_WORDS = """how many what is the number of total are there in per one an a epoch epochs each every for with and on if we
    use using train training during make makes made does do take takes have has data dataset set model of to at contains
    containing needed size over""".split()

_COUNT = (
    rf"\b(?:an? |the )?{_NUMBER}[- ]?(?:param(?:eter)?s?)(?: (?:transformer|encoder|language))* (?:model|network|encoder"
    rf"|transformer)\b"
    rf"|\b(?:an? |the )?(?:model|network|encoder|transformer) (?:with|of|that has|having) {_NUMBER} (?:trainable "
    rf")?param(?:eter)?s\b"
)


def given_count(text: str) -> tuple[str, int] | None:
    """`a 110M-parameter model`, `a model with 110 million parameters`: the text without the number, and the number."""
    found = re.search(_COUNT, text)
    if found is None:
        return None
    digits, suffix = (found[1], found[2]) if found[1] else (found[3], found[4])
    before, whose = re.subn(r"\b(?:of|for|in)\s*$", "", text[: found.start()])  # `the gradients of a …`: of nothing else
    return f"{before} {'' if whose else 'model'} {text[found.end() :]}", _scaled(digits, suffix or "", found[0])


def formed(text: str, asked: str) -> Question | None:
    """The question, where it has one of these forms and says nothing else; `text` is the question in plain words."""
    text = re.sub(phrases.MODEL, " bert ", text) if "mask" in text or "special" in text else re.sub(phrases.MODEL, " ", text)
    found = (form(text, asked) for form in (pretraining, reckoned, _entry, _updates, tying))
    return next((question for question in found if question is not None), None)


def _entry(text: str, asked: str) -> Question | None:
    """`PE(3, 5)`, `PE(pos, 2i+1) for pos=3, i=2`, `positional encoding at position 3, dimension 5`."""
    stated, rest = take_stated(text)
    places: dict[str, int] = {}
    if pair := re.search(_ENTRY, rest):
        rest = _without(rest, pair)
        places = {"position": int(pair[1]), "feature": int(pair[2])}
    elif symbols := re.search(_SYMBOLS, rest):
        rest = _without(rest, symbols)
        places, rest = _places(rest, {"position": _POSITION, "feature": _FEATURE})
        if "feature" in places and symbols[1] != "i":
            places["feature"] = 2 * places["feature"] + ("+" in symbols[1])
    elif table := re.search(_TABLE, rest):
        rest = _without(rest, table)
        columns = {f"feature {name}": pattern for name, pattern in _COLUMNS.items()}
        places, rest = _places(rest, {"position": _POSITION, **columns, "feature": _FEATURE})
        places = {name.split(" ")[0]: place for name, place in places.items()}
    if not places or not _nothing_else(re.sub(_TABLE, " ", rest), _ENTRY_WORDS):
        return None
    for name in ("position", "feature"):
        if name not in places:
            raise GlassformerError(f"'{shown(asked)}': at which {name}? Write PE(3, 5) for position 3, feature 5.")
    return _question("entry", asked, stated=stated, given=tuple(places.items()))


def _updates(text: str, asked: str) -> Question | None:
    """`updates per epoch with 10000 rows and batch 32`, `steps in 3 epochs for 50,000 examples, batch size 64`."""
    kind = re.search(_UPDATES, text)
    if kind is None or "epoch" not in text:
        return None
    dropped = re.search(r"\b(?:drop[- _]?last(?:\s*=\s*true)?|(?:dropping|without) the last (?:incomplete )?batch)\b", text)
    rest = _without(text, dropped) if dropped else text
    given, rest = _places(rest, _EPOCH)
    if "data" in given:
        given.setdefault("rows", given.pop("data"))
    if dropped:
        given["dropped"] = 1
    if not _nothing_else(re.sub(_UPDATES, " ", rest), _EPOCH_WORDS):
        return None
    if "rows" not in given:
        raise GlassformerError(f"'{shown(asked)}': of how many rows? Write 'updates per epoch with 10000 rows and batch 32'.")
    return _question("updates", asked, given=tuple(given.items()))


def _question(
    kind: Kind, asked: str, *, stated: tuple[tuple[str, str], ...] = (), given: tuple[tuple[str, int], ...] = ()
) -> Question:
    return Question(kind, None, one_layer=False, one_head=False, text=asked, stated=stated, given=given)


def _places(text: str, patterns: dict[str, str]) -> tuple[dict[str, int], str]:
    """The first number of each pattern, and the text without them."""
    found: dict[str, int] = {}
    for name, pattern in patterns.items():
        if match := re.search(pattern, text):
            found[name] = _whole(match)
            text = _without(text, match)
    return found, text


def _whole(match: re.Match[str]) -> int:
    return _scaled(match[1], (match[2] if match.re.groups > 1 else None) or "", match[0])


def _scaled(digits: str, suffix: str, said: str) -> int:
    thousands = {"k": 1, "thousand": 1, "m": 2, "million": 2, "b": 3, "billion": 3}.get(suffix, 0)
    value = round(float(digits.replace(",", "").replace("_", "")) * 1000**thousands, 3)
    if value > MOST or value != int(value):
        raise GlassformerError(f"'{shown(said)}' is not a whole number that can be worked with: at most {MOST:,}.")
    return int(value)


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _nothing_else(text: str, allowed: list[str]) -> bool:
    """Whether only words are left that change nothing."""
    checks: Callable[[str], bool] = set(allowed).__contains__
    return all(checks(word) for word in re.findall(r"[^\s,.:;()|?!]+", text))
