"""Sizes stated in a question: each number belongs to the name next to it; a number without a name rejects the question."""

from __future__ import annotations

from dataclasses import dataclass, field

from glassformer.answers.english.words import Tag, nouns, tables

SQUARES = {"image": "image", "patches": "patch"}
LINKS = ("=", ":")


@dataclass
class Stated:
    """Sizes by field, and the rest of the question."""

    rest: list[Tag]
    sizes: dict[str, int] = field(default_factory=dict)
    twice: list[Tag] = field(default_factory=list)  # sizes with two different values

    def put(self, name: str, value: int) -> None:
        name = "d_model" if name == "embedding_size" else name
        if self.sizes.setdefault(name, value) != value:
            self.twice.append(Tag("twice", name, f"another value for {name}"))

    def kind(self, place: int) -> str:
        """Return the kind of a tag; for a quantity its name (`tokens` may be a unit), for a sign the sign."""
        if not 0 <= place < len(self.rest):
            return ""
        tag = self.rest[place]
        return tag.value if tag.kind in ("quantity", "sign") else tag.kind

    def named(self, place: int) -> str:
        """Return the size that a tag names."""
        return self.rest[place].value if self.kind(place) == "size" else ""


def stated(tags: list[Tag]) -> Stated:
    """Extract every number with a name next to it; numbers without a name stay in `rest`."""
    found, place = Stated(list(tags)), 0
    while place < len(found.rest):
        taken = None
        if found.kind(place) == "number":
            taken = _square(found, place) or _behind_name(found, place) or _before_unit(found, place)
        if taken is not None:  # `4 heads of size 16` uses its heads twice
            first, last = taken
            heads = [tag._replace(kind=f"counted {tag.kind}") for tag in found.rest[first:last] if tag.kind in ("head", "layer")]
            found.rest[first:last] = heads[:1]
            place = first - 1
        place += 1
    return found


def _square(found: Stated, place: int) -> tuple[int, int] | None:
    """Read `a 224 × 224 image` or `patches of size 16 × 16`."""
    tags, end = found.rest, place + 3
    if found.kind(place + 1) != "×" or found.kind(place + 2) != "number" or found.kind(end) == "×":
        return None
    before = place - 1
    while found.kind(before) in ("dim", *LINKS):
        before -= 1
    after = SQUARES.get(found.kind(end), "")
    name = after or SQUARES.get(found.kind(before), "") or found.named(before)
    if name not in SQUARES.values() or tags[place].number != tags[place + 2].number:
        return None
    found.put(name, tags[place].number)
    others = any(tag.kind == "quantity" and tag.value != "patches" for tag in tags)
    drops = name == "image" or others  # in `how many patches of 16 × 16`, the question is about patches
    return (place, end + drops) if after else (before + (not drops), end)


def _behind_name(found: Stated, place: int) -> tuple[int, int] | None:
    """Read `d_model = 512`, `hidden size of 768 features` or `heads of dimension 64`."""
    first, dimension, each, owners = place - 1, False, False, tables("forms")["owners"]
    while found.kind(first) in ("dim", "one", *LINKS) or (each and found.kind(first) == ","):
        dimension = dimension or found.kind(first) == "dim"
        each = each or found.kind(first) == "one"
        first -= 1
    owner, kept = found.named(first), 0
    if not owner and dimension:
        noun = nouns().get(found.rest[first].value) if found.kind(first) == "noun" else None
        owner = noun.size if noun else owners.get(found.kind(first), "")
        kept = 0 if found.kind(first) == "noun" and found.rest[first].value in ("vector", "model") else 1
        if found.kind(first) == "head" and found.kind(first - 1) == "one":
            kept, first = 0, first - 1  # `each head has dimension 16`: the question is not about one head
    after, units = found.kind(place + 1), tables("forms")["units"].get(owner, ())
    if not owner or (after in tables("forms")["counted"] and after not in units and found.kind(place - 1) != "="):
        return None
    found.put(owner, found.rest[place].number)
    return first + kept, place + 1 + (after in units)


def _before_unit(found: Stated, place: int) -> tuple[int, int] | None:
    """Read `8 heads`, `12-layer`, `a 96-dimensional vector` or `110M parameters`."""
    after, last, number = found.kind(place + 1), place + 2, found.rest[place].number
    name = tables("forms")["counted"].get(after, "")
    if after == "size" and found.kind(last + (found.kind(last) in LINKS)) != "number":
        name = found.named(place + 1)
    elif after == "dim":
        size = nouns()[found.rest[last].value].size if found.kind(last) == "noun" else ""
        name = tables("forms")["owners"].get(found.kind(last), "") or size or "d_model"
        last += found.kind(last) == "noun" and found.rest[last].value == "vector"
    if not name or (after, number) == ("layer", 1):
        return None
    found.put(name, number)
    return place, last
