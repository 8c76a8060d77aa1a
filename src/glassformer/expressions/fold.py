"""Combines tokens that belong together: a number and `million`, a number and a remark after it, `about` and a number."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.expressions.numerals import SCALES
from glassformer.expressions.scanner import OPERAND_ENDS, Token
from glassformer.expressions.vocabulary import ABOUT, BYTES, COUNTED, PARTNER

LONGEST_REMARK = 40  # tokens between brackets
ORDINALS = frozenset(("st", "nd", "rd", "th"))


def fold(tokens: Sequence[Token], *, remarks: bool = True) -> list[Token]:
    """Return the tokens with remarks, scales and units distinguished from words and names."""
    partners = matching(tokens)
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        end = partners.get(place, -1)
        short = remarks and place < end <= place + LONGEST_REMARK and token.kind == "open" and token.text in "(["
        if short and _is_remark(found, tokens[place : end + 1], tokens[end + 1] if end + 1 < len(tokens) else None):
            last = tokens[end]
            words = " ".join(inner.text for inner in tokens[place + 1 : end] if inner.kind != "edge")
            if not any(inner.kind in ("word", "text") for inner in tokens[place + 1 : end]):
                words = f"({words})"  # a name or a number alone, which may be a factor
            found.append(token._replace(kind="note", text=words, end=last.end))
            place = end + 1
            continue
        found.append(_in_context(token, found, tokens[place + 1] if place + 1 < len(tokens) else None))
        place += 1
    return _joined(found)


def matching(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the index of the matching bracket for each opening and closing bracket."""
    waiting: list[tuple[str, int]] = []
    partners: dict[int, int] = {}
    for place, token in enumerate(tokens):
        if token.kind in ("open", "begin"):
            waiting.append((token.text, place))
        elif token.kind in ("close", "end"):
            wanted = PARTNER.get(token.text, token.text)
            if waiting and waiting[-1][0] == wanted:
                start = waiting.pop()[1]
                partners[start], partners[place] = place, start
            elif waiting and token.kind == "close" and any(text == wanted for text, _ in waiting[-3:]):
                while waiting.pop()[0] != wanted:
                    pass  # an interval [0, 1) or a missing bracket: nothing inside it is matched
    return partners


def _is_remark(found: list[Token], inside: Sequence[Token], after: Token | None) -> bool:
    """Return whether brackets contain a remark on the operand before them: `768 (hidden size)`, `768 (d_model)`."""
    before = _last(found)
    if before is None or before.kind not in OPERAND_ENDS:
        return False
    kinds = {token.kind for token in inside[1:-1]}
    if inside[0].text == "[":  # a reference, as in `= 12 [4]`
        alone = len(inside) == 3 and inside[1].text.isdecimal()
        return alone and inside[0].gap and not inside[0].math and before.kind in ("number", "word", "scale")
    if "relation" in kinds or not kinds:
        return False
    if kinds & {"word", "text"}:
        reckoned = "number" in kinds and after is not None and after.kind in ("operator", "relation")
        return not (before.kind == "word" and reckoned) and (before.kind != "name" or inside[0].gap)
    if not (before.kind in ("number", "scale", "unit") and inside[0].gap):
        return False
    return kinds <= {"name", "edge"} or (
        not inside[0].math and len(inside) <= 5 and kinds <= {"number", "name", "edge", "about", "percent"}
    )


def _in_context(token: Token, found: list[Token], following: Token | None) -> Token:
    before = _last(found)
    after_number = before is not None and (before.kind == "number" or (token.named and before.kind == "scale"))
    word = token.text.strip()
    word = word.lower() if word.lower() in SCALES and len(word) > 1 else word
    if token.kind in ("word", "name", "text") and after_number:
        if word in SCALES and _scales(token, word, following):
            return token._replace(kind="scale", text=word)
        if word in BYTES or (token.named and word in COUNTED and token.gap and (following is None or following.kind != "open")):
            return token._replace(kind="unit", text=word)
        if token.named and word == "x" and (following is None or following.kind == "relation"):
            return token._replace(kind="unit", text="times")  # a factor: 4x
    if token.kind == "text" and before is not None and before.kind in OPERAND_ENDS:
        return token._replace(kind="note", text=word.strip("() "))
    roughly = (token.kind == "word" or token.named) and word.lower() in ABOUT
    if roughly and following is not None and following.kind in ("number", "edge"):
        return token._replace(kind="about")
    if word == "of" and token.kind == "word" and before is not None and before.kind == "percent":
        return token._replace(kind="operator", text="×")
    if token.kind == "operator" and token.text == "-" and _is_dash(token, found, before, following):
        return token._replace(kind="wall", text="–")
    return token


def _last(found: list[Token]) -> Token | None:
    """Return the previous token, ignoring dollar signs."""
    for token in reversed(found[-4:]):
        if token.kind != "edge":
            return token
    return None


def _scales(token: Token, word: str, following: Token | None) -> bool:
    """Return whether a token is a scale: `110 million`, `110M`; after a space, a letter only before a word: `250 K tokens`."""
    if len(word) > 1 or not token.gap or token.kind == "text":  # 3.15\\,\\text{M}
        return True
    return word in "KMB" and not token.math and (following is None or following.kind in ("word", "stop", "comma"))


def _is_dash(token: Token, found: list[Token], before: Token | None, following: Token | None) -> bool:
    """Return whether a minus is a dash between words and a formula: `Total - 3 × 4`; not after a number and its unit."""
    if not (before and before.kind == "word" and token.gap and not token.math and following and following.gap):
        return False
    for earlier in reversed(found[-6:]):
        if earlier.kind not in ("word", "edge"):
            return earlier.kind not in ("number", "scale", "close")
    return True


def _joined(tokens: list[Token]) -> list[Token]:
    """Join `3rd` into one word, and `40 000` into one number."""
    found: list[Token] = []
    depth = 0
    for token in tokens:
        depth += (token.text in "[⟨") * ((token.kind == "open") - (token.kind == "close")) if token.text else 0
        before = found[-1] if found else None
        if before is not None and before.kind == "number":
            if token.kind in ("word", "name") and token.text in ORDINALS and not (token.gap or token.named):
                found[-1] = before._replace(kind="word", text=before.text + token.text, end=token.end)
                continue
            if token.kind == "number" and depth == 0 and token.start == before.end + 1 and _continues(before.text, token.text):
                found[-1] = before._replace(text=f"{before.text} {token.text}", end=token.end)
                continue
        found.append(token)
    return found


def _continues(before: str, after: str) -> bool:
    """Return whether a group of three digits continues a number: `30 720` and then `000`."""
    last = before.rpartition(" ")[2]
    return last.isdecimal() and (len(last) == 3 if " " in before else len(last) <= 3) and len(after) == 3 and after.isdecimal()
