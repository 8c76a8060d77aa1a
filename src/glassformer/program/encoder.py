"""spec -> program: the whole model, from input to head."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.program.axes import Axis, Tensor
from glassformer.program.embeddings import embed
from glassformer.program.funnel import funnel
from glassformer.program.heads import finish
from glassformer.program.program import Program, Sizes, Writer
from glassformer.program.roles import ENCODER
from glassformer.program.stack import Memory, stack
from glassformer.program.task_adapters import task_adapters
from glassformer.spec import EncoderSpec, Seq2SeqSpec

DEFAULT_TOKENS = 128


def build(spec: EncoderSpec, *, batch: int = 1, t: int | None = None, u: int | None = None, padded: bool = False) -> Program:
    """The program of `spec` for `batch` inputs of `t` tokens; `padded`: some tokens may be padding.

    An encoder-decoder reads `t` tokens with its encoder and `u` with its decoder.
    """
    program = Program(spec, sizes(spec, batch, t, u))
    write = Writer(program)
    if isinstance(spec, Seq2SeqSpec):
        _encoder_decoder(program, write, spec, padded=padded)
        return program
    lengths = texts, positions = _lengths(program)[0]
    real = Tensor("attend", (texts, positions.renamed("s")), "attend", ENCODER, "attend") if padded else None
    x = embed(write, spec, lengths, real=real)
    if real is not None:  # appended, so that the first input is still the tokens
        program.inputs.append(real)
    if spec.funnel:
        x, real = funnel(write, spec, x, real)
    else:
        x = stack(write, spec, x, real=real)
    finish(write, spec, x, real)
    if spec.adapters:
        task_adapters(write, spec)
    return program


def _encoder_decoder(program: Program, write: Writer, spec: Seq2SeqSpec, *, padded: bool) -> None:
    """Two stacks (Vaswani et al. 2017, section 3.1): the decoder's layers also attend to the output of the encoder."""
    source, target = _lengths(program)
    encoder, decoder = write.at("encoder", "stack"), write.at("decoder", "stack")
    x = embed(encoder, spec.encoder, source)
    real = _real(write, "attend", x) if padded and not spec.one_length else None
    memory = stack(encoder, spec.encoder, x, real=real).seen(t="s")
    table = next((p.tensor for p in program.parameters if p.role == "token"), None) if spec.shares_table else None
    y = embed(decoder, spec.decoder, target, name="target", table=table)
    own = _real(write, "attend_target", y) if padded else None
    y = stack(decoder, spec.decoder, y, real=own, memory=Memory(memory, real))
    finish(write, spec.decoder, y, own)


def _lengths(program: Program) -> tuple[tuple[Axis, Axis], tuple[Axis, Axis]]:
    """Batch and positions of the source, and of the target."""
    sizes = program.sizes
    batch = Axis("batch", sizes.batch)
    return (batch, Axis("t", sizes.t)), (batch, Axis("u", sizes.u or 0))


def _real(write: Writer, name: str, x: Tensor) -> Tensor:
    """An input that marks the positions of x that are not padding, along the axis of keys."""
    return write.input(name, "attend", x.axes[0], x.axes[-2].renamed("s"))


def sizes(spec: EncoderSpec, batch: int = 1, t: int | None = None, u: int | None = None) -> Sizes:
    """Batch and lengths, checked against the spec; the length of an image or a sound follows from the spec."""
    for name, value in (("batch", batch), ("t", t), ("u", u)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9):
            raise GlassformerError(f"{name}={value} is not allowed: {name} must be a whole number from 1 to 1,000,000,000.")
    found = Sizes(batch, _length(spec, "t", t))
    if isinstance(spec, Seq2SeqSpec):
        return found._replace(u=_length(spec.decoder, "u", u))
    if u is not None:
        raise GlassformerError(f"u={u} is the length of a target, but this model has one stack, whose length is t. Leave u out.")
    return found


def _length(spec: EncoderSpec, name: str, t: int | None) -> int:
    longest = spec.longest
    if spec.one_length:
        assert longest is not None
        if t is not None and t != longest:
            what = f"image={spec.image} in patches of {spec.patch} makes" if spec.reads == "image" else "every sound has"
            other = f"samples={spec.frames_of(t)}" if spec.raw_sound else f"positions={t}"
            way = "" if spec.reads == "image" else f", or give {other}"
            raise GlassformerError(f"{name}={t} cannot be chosen: {what} {name}={longest}. Leave {name} out{way}.")
        return longest
    if t is None:
        t = min(DEFAULT_TOKENS, longest or DEFAULT_TOKENS)
    if longest is not None and t > longest:
        if longest == spec.complete_up_to:
            raise GlassformerError(
                f"{name}={t} is too long: with complete_up_to={longest}, longer texts need block-sparse attention, which "
                f"is not implemented. Give a smaller {name}, or leave complete_up_to out for full attention."
            )
        raise GlassformerError(
            f"{name}={t} is too long: the position table has positions={longest}. Give a smaller {name} or more positions."
        )
    return t
