"""Tokens as people read them: bytes of a byte-level vocabulary as letters, a space at the start of a word as ␣."""

from __future__ import annotations

from collections.abc import Iterable

SPACE, LINE = "␣", "⏎"
_PLAIN = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that byte-level vocabularies write as they are
_OTHERS = [byte for byte in range(256) if byte not in set(_PLAIN)]
BYTES = {chr(byte): byte for byte in _PLAIN} | {chr(256 + place): byte for place, byte in enumerate(_OTHERS)}


def readable(tokens: Iterable[str]) -> list[str]:
    """`Ġété` of a byte-level vocabulary (`ĠÃ©tÃ©`) and `▁été` of SentencePiece as `␣été`; other tokens unchanged."""
    return [_readable(token) for token in tokens]


def _readable(token: str) -> str:
    plain = token.replace("▁", " ")
    if all(letter in BYTES for letter in token):
        try:
            plain = bytes(BYTES[letter] for letter in token).decode()
        except UnicodeDecodeError:
            return token  # a part of a letter
    return plain.replace(" ", SPACE).replace("\n", LINE)
