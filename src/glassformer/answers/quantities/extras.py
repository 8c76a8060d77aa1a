"""Quantities around the encoder: position table entries, training updates, BERT's masking, special tokens, padding."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from glassformer.answers.mistakes.positions import waves
from glassformer.answers.quantities.answer import Found, Line, Other, found, mistaken
from glassformer.answers.quantities.context import Context, whole
from glassformer.answers.quantities.registry import means
from glassformer.errors import GlassformerError
from glassformer.expressions.exact import Real
from glassformer.expressions.tree import List

BASE = 10000.0
FLOAT_ROOM = Fraction(1, 10**14)
# BERT (Devlin et al., 2018), section 3.1 and appendix A.1.
CHOSEN = Fraction(15, 100)
FATES = {"mask": Fraction(80, 100), "random": Fraction(10, 100), "kept": Fraction(10, 100)}
SPECIAL = {1: "[CLS] text [SEP]", 2: "[CLS] first [SEP] second [SEP]"}


@means(
    "positions", "one entry of the sinusoidal table, position and feature counted from 0", "positions(3, 5) @ layer d_model=64"
)
def positions(context: Context) -> Found:
    """Return the entry in row `position` and column `feature`."""
    from glassformer.numbers.by_hand.operations import PositionEntries  # the only quantity that needs it

    spec = context.spec
    if len(context.quantity.arguments) != 2:
        raise GlassformerError(f"{context.text}: expected a position and a feature in the parentheses, as in positions(3, 5).")
    if spec.position not in ("sinusoidal", "sinusoidal_stored", "none"):
        raise GlassformerError(
            f"{context.text}: this model has position={spec.position}, which has no formula. Add position=sinusoidal."
        )
    position, feature = (whole(node, context.text) for node in context.quantity.arguments)
    if feature >= spec.d_model:
        raise GlassformerError(f"{context.text}: feature {feature} is not in the table: d_model={spec.d_model}, counted from 0.")
    table = PositionEntries(width=spec.d_model, base=BASE, layout="interleaved", pairs=((position, feature),))
    function, _, angle = table.wave(position, feature)
    symbols = f"{function}(pos / {BASE:g}^(2i/d_model)) with i = {feature // 2}"
    value = _real(table.number(position, feature))
    line = Line(f"PE({position}, {feature})", symbols, f"{function}({angle})", value)
    others = [
        Other(said, _real(table.number(*cell))) for said, cell in _counted_otherwise(position, feature) if cell[1] < spec.d_model
    ]
    convention = "position and feature counted from 0, sines in even features, cosines in odd ones"
    wrongs = [mistaken(code, what, _real(wave(position, feature))) for code, what, wave in waves(table)]
    return found(value, "", convention, [line], others, lambda: wrongs)


def _counted_otherwise(position: int, feature: int) -> list[tuple[str, tuple[int, int]]]:
    """Return the entries meant by people who count from 1 or who number the pairs."""
    cells = [("features counted from 1", (position, feature - 1))] if feature else []
    cells += [("positions counted from 1", (position - 1, feature))] if position else []
    return [*cells, ("the second number read as the pair index, PE(pos, 2i)", (position, 2 * feature))]


def _real(value: float) -> Real:
    middle = Fraction(value)
    return Real(middle - FLOAT_ROOM, middle + FLOAT_ROOM)


@means("updates", "weight updates of a training run", "updates(rows=10000, batch=32, epochs=3)",
       ("rows", "batch", "epochs", "accumulate", "drop_last"))  # fmt: skip
def updates(context: Context) -> Found:
    """Return the number of weight updates; the last batch of an epoch may be smaller."""
    rows, epochs = context.number("rows"), context.number("epochs", 1)
    together = context.number("batch") * context.number("accumulate", 1)
    if not together:
        raise GlassformerError(f"{context.text}: batch and accumulate must be at least 1.")
    counted, dropped = epochs * -(-rows // together), epochs * (rows // together)
    drops = context.flag("drop_last")
    value, other = (dropped, counted) if drops else (counted, dropped)
    each = "(batch · accumulate)" if "accumulate" in context.options else "batch"
    symbols = f"epochs · ⌊rows / {each}⌋" if drops else f"epochs · ⌈rows / {each}⌉"
    numbers = f"{epochs} · {'⌊' if drops else '⌈'}{rows} / {together}{'⌋' if drops else '⌉'}"
    words = ("the last, smaller batch counted", "the last, smaller batch dropped")
    said, beside = reversed(words) if drops else words
    line, wrongs = (
        Line("updates", symbols, numbers, value),
        partial(_mistaken_updates, rows, context.number("batch"), together, epochs),
    )
    return found(value, "updates", said, [line], [Other(beside, other)], wrongs)


def _mistaken_updates(rows: int, batch: int, together: int, epochs: int) -> Iterator[Other]:
    if together > batch:
        for said, each in (("counted", -(-rows // batch)), ("dropped", rows // batch)):
            yield mistaken("epochs_forgotten", f"an update for each batch, the last, smaller batch {said}", epochs * each)
    if epochs > 1:
        for said, each in (("counted", -(-rows // together)), ("dropped", rows // together)):
            yield mistaken("epochs_forgotten", f"one epoch alone, the last, smaller batch {said}", each)
        yield mistaken("epochs_forgotten", "the epochs run into each other", -(-rows * epochs // together))
    if together > 1:
        yield mistaken("epochs_forgotten", "one update for each row", rows * epochs)


@means("mask_rate", "fraction of tokens that BERT selects for prediction; fate=mask|random|kept", "mask_rate * 512",
       ("fate",))  # fmt: skip
def mask_rate(context: Context) -> Found:
    fate = context.word("fate", "", tuple(FATES))
    share = CHOSEN * FATES[fate] if fate else CHOSEN
    symbols = f"0.15 · {float(FATES[fate]):g}" if fate else "0.15"
    others = [Other("as a fraction of the selected tokens", FATES[fate])] if fate else []
    return found(share, "", "fraction of all tokens, as in the BERT paper", [Line("fraction", symbols, "", share)], others)


@means("special_tokens", "special tokens that BERT adds to one sentence or two", "special_tokens(sentences=2)", ("sentences",))
def special_tokens(context: Context) -> Found:
    sentences = context.number("sentences", 1)
    if sentences not in SPECIAL:
        raise GlassformerError(f"{context.text}: sentences={sentences} is not allowed; BERT takes one or two.")
    return found(sentences + 1, "tokens", SPECIAL[sentences], [Line("special tokens", SPECIAL[sentences], "", sentences + 1)])


@means("padding", "padding tokens if inputs of these lengths are padded to the longest, or to=N", "padding([5, 9, 7])", ("to",))
def padding(context: Context) -> Found:
    nodes = context.quantity.arguments
    inside = nodes[0].items if len(nodes) == 1 and isinstance(nodes[0], List) else nodes
    lengths = [whole(node, context.text) for node in inside]
    if not lengths:
        raise GlassformerError(
            f"{context.text}: expected the lengths of the inputs in the parentheses, as in padding([5, 9, 7])."
        )
    to = context.number("to", max(lengths))
    if to < max(lengths):
        raise GlassformerError(f"{context.text}: to={to} is shorter than the longest input, {max(lengths)}.")
    value = len(lengths) * to - sum(lengths)
    line = Line("padding", "inputs · length − tokens", f"{len(lengths)} · {to} − {sum(lengths)}", value)
    return found(value, "tokens", f"each of {len(lengths)} inputs padded to {to} tokens", [line])


NEED_NO_MODEL = ("updates", "mask_rate", "special_tokens", "padding")
