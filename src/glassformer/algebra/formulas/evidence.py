"""Evidence from the given sizes for what an axis counts: `d` is a width, `t` counts tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glassformer.algebra.formulas.given import Given, Shape
from glassformer.algebra.formulas.sizes import Size
from glassformer.algebra.formulas.values import DATA_BASES, OTHER, Kind, role_of

TOKEN_SYMBOLS = frozenset({"t", "T", "tokens", "seq", "seq_len"})
MODEL_WIDTHS = ("d_model", "d", "D")
HEAD_WIDTHS = {"queries": ("d_k", "d_q"), "keys": ("d_k", "d_q"), "values": ("d_v",)}


@dataclass(frozen=True)
class Evidence:
    """Infers the kinds of a given matrix's axes from its sizes."""

    given: Given
    known: Mapping[str, Size]

    def kinds(self, of: str) -> tuple[Kind | None, Kind | None]:
        """Return the kinds of both axes if all hints agree; a data matrix has one axis of each kind."""
        shape = self.given.shapes[of]
        if of.partition("_")[0] not in DATA_BASES or len(shape) != 2:
            return None, None
        hints = [*self._symbols(shape), *self._numbers(of, shape), *self._companions(of)]
        rows: set[Kind] = {kind if axis == 0 else OTHER[kind] for axis, kind in hints}
        if len(rows) != 1:
            return None, None
        kind = rows.pop()
        return kind, OTHER[kind]

    def _symbols(self, shape: Shape) -> list[tuple[int, Kind]]:
        """Return hints from symbols: in `d × t`, d is a width and t counts tokens; n and m may be either."""
        found: list[tuple[int, Kind]] = []
        for axis, size in enumerate(shape):
            if any(symbol.split("_")[0] in ("d", "D") for symbol in size.symbols):
                found.append((axis, "features"))
            elif size.symbol in TOKEN_SYMBOLS:
                found.append((axis, "tokens"))
        return found if len({kind for _, kind in found}) == len(found) else []

    def _numbers(self, of: str, shape: Shape) -> list[tuple[int, Kind]]:
        """Return hints from numbers: in `X=768x6 d=768`, the axis of size 768, if only one axis can be the width."""
        sizes = [size.put_in(self.known).number for size in shape]
        role = role_of(of)
        found: list[tuple[int, Kind]] = []
        for word in HEAD_WIDTHS[role] if role else MODEL_WIDTHS:
            place = self._place(word, sizes)
            if place is None:
                continue
            other, width = sizes[1 - place] or 0, sizes[place] or 1
            if not role or other % width:  # 128 × 64 with d_k = 64 may be two heads of 64 for 64 tokens
                found.append((place, "features"))
        if len({tuple(shape) for key, shape in self.given.shapes.items() if key.partition("_")[0] in DATA_BASES}) == 1:
            places = [self._place(word, sizes) for word in sorted(TOKEN_SYMBOLS)]
            found += [(place, "tokens") for place in places if place is not None]
        return found

    def _place(self, word: str, sizes: list[int | None]) -> int | None:
        """Return the only axis whose size is the number given for a symbol."""
        value = self.known[word].number if word in self.known else None
        return sizes.index(value) if value is not None and sizes.count(value) == 1 else None

    def _companions(self, of: str) -> list[tuple[int, Kind]]:
        """Return hints from related matrices: K and V share their tokens, Q and K their width."""
        role = role_of(of)
        if role is None or of[0] not in "QKV" or of[1:2] not in ("", "_"):
            return []
        q, k, v = (self._put_in(base + of[1:]) for base in "QKV")
        if not (q and k and v):
            return []
        shared = [axis for axis in (0, 1) if k[axis] in v]
        if len(shared) != 1 or k[1 - shared[0]] not in q:
            return []
        count, width = k[shared[0]], k[1 - shared[0]]
        if role == "keys":
            return [(shared[0], "tokens")]
        mine, size = (q, width) if role == "queries" else (v, count)
        places = [axis for axis in (0, 1) if mine[axis] == size]
        return [(places[0], "features" if role == "queries" else "tokens")] if len(places) == 1 else []

    def _put_in(self, key: str) -> Shape | None:
        shape = self.given.shapes.get(key)
        return tuple(size.put_in(self.known) for size in shape) if shape and len(shape) == 2 else None
