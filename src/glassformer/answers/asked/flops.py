"""Answers about FLOPs and multiply-adds: of the whole, of one product, a layer, a head, a token, forward or in training."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator

from glassformer.algebra.ledger import count
from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.questions import Question
from glassformer.answers.questions.glossary import PRODUCT_NAMES
from glassformer.program import Program, Step
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.reading import Request

FEW_WORDS = 3  # a longer text that is not understood is no slip
BACKWARD = 2  # its products, in forward passes

Chooses = Callable[[Step], bool]


def _reads(*symbols: str) -> Chooses:
    return lambda step: any(tensor.symbol in symbols for tensor in step.inputs)


def _ends(*words: str) -> Chooses:
    return lambda step: step.name.endswith(tuple(f".{word}" for word in words))


def _in_layers(chooses: Chooses) -> Chooses:
    return lambda step: step.name.startswith("layers.") and chooses(step)


# Disentangled attention adds to the scores what tokens and distances have to do with each other: products of their own.
_SCORES = _ends("attention.scores", "attention.content_to_buckets", "attention.buckets_to_content")
_QKV, _OUTPUT, _MIX = _reads("W_Q", "W_K", "W_V", "W_QR", "W_KR"), _reads("W_O"), _ends("attention.mix")


def _core(step: Step) -> bool:
    return _SCORES(step) or _MIX(step)


# Which steps a product's name takes.
PRODUCTS: dict[str, Chooses] = {
    "qkv": _in_layers(_QKV),
    "output": _in_layers(_OUTPUT),
    "projections": _in_layers(lambda step: _QKV(step) or _OUTPUT(step)),
    "scores": _in_layers(_SCORES),
    "mix": _in_layers(_MIX),
    "core": _in_layers(_core),
    "attention": _in_layers(lambda step: _QKV(step) or _core(step) or _OUTPUT(step)),
    "ffn": _in_layers(lambda step: ".ffn." in step.name),
    "layers": _in_layers(lambda step: bool(step.name)),
    "embeddings": lambda step: step.name.startswith("embeddings.") or step.name == "x",
    "convolutions": _reads("W_conv1", "W_conv2"),
    "pooler": lambda step: step.name.startswith("pooler."),
    "head": lambda step: step.name.startswith("head."),
}
OF_ONE_HEAD = {"qkv", "scores", "mix", "core", "W_Q", "W_K", "W_V"}
SHARED_BY_GROUPS = {"qkv", "W_K", "W_V"}  # where queries are grouped


def operations(question: Question, asked: Request, program: Program) -> Answer:
    """FLOPs or multiply-adds of matrix products."""
    steps = steps_of(question, program)
    per, scope = _share(question, program)
    factor = 1 if question.kind == "macs" else 2
    passes = 1 + BACKWARD if question.training else BACKWARD if question.backward else 1

    def cost(chosen: Iterable[Step]) -> int:
        return factor * sum(_macs(step) for step in chosen) // per

    value = passes * cost(steps)
    per_line = BACKWARD if question.backward else 1
    lines = [_line(step, factor * per_line, per) for step in steps if _macs(step)]
    if question.training:
        lines.append(Line("backward", f"{BACKWARD} · forward", "", BACKWARD * cost(steps)))
    way = "backward" if question.backward else "forward"
    convention = (
        f"matrix products of one {'training step' if question.training else f'{way} pass'}, "
        f"batch={program.sizes.batch} t={program.sizes.t}{scope}" + (", a multiply-add counted as two" if factor == 2 else "")
    )
    others = _other_operations(question, program, steps, value)
    wrongs = _mistaken_operations(question, program, steps, cost, passes)
    return made(question, asked, value, "multiply-adds" if factor == 1 else "FLOPs", convention, lines, others, wrongs)


def _line(step: Step, factor: int, per: int) -> Line:
    """A product takes a multiply-add for each place of all axes together; what is asked for is a share of that."""
    axes = {axis.name: axis.size for tensor in (step.output, *step.inputs) for axis in tensor.axes}
    value = factor * _macs(step) // per
    if per != 1 or math.prod(axes.values()) != _macs(step):
        return Line(step.name, "", f"{value:,}", value)
    doubled = [str(factor)] if factor > 1 else []
    return Line(step.name, " · ".join([*doubled, *axes]), " · ".join([*doubled, *(str(size) for size in axes.values())]), value)


def _macs(step: Step) -> int:
    return step.operation.macs(step.inputs, step.output)


def steps_of(question: Question, program: Program) -> list[Step]:
    """The steps that are asked for; of one layer the first, since all cost the same."""
    steps = list(program.steps)
    if question.target is not None:
        names = question.target.split(",")
        odd = [name for name in names if name not in PRODUCTS and not re.match(r"[WbE]_", name)]
        if odd and len(names) > 1:  # one that is not known must not be passed over beside one that is
            raise GlassformerError(
                f"'{shown(question.text)}': '{shown(odd[0])}' is no matrix product.{_near(odd[0])} 'glassformer cost' lists them."
            )
        choosers = [PRODUCTS[name] if name in PRODUCTS else _in_layers(_reads(name)) for name in names]
        steps = [step for step in steps if any(chooses(step) for chooses in choosers)]
    if question.per_token:
        steps = [step for step in steps if any(axis.name in ("t", "s") for axis in step.output.axes)]
    if question.one_layer or (question.one_head and not question.every_layer):
        steps = [step for step in steps if step.name.startswith("layers.0.")]
    if not any(_macs(step) for step in steps):
        raise GlassformerError(
            f"'{shown(question.text)}': this encoder has no such matrix product.{_near(question.target or '')} "
            "'glassformer cost' lists them."
        )
    return steps


def _near(target: str) -> str:
    return nearest(target, PRODUCT_NAMES) if len(target.split()) <= FEW_WORDS else ""


def _share(question: Question, program: Program) -> tuple[int, str]:
    """What a cost is divided by, and how that is said."""
    per, scope = 1, ", one layer" if question.one_layer else ""
    if question.one_head:
        if question.target is None or not set(question.target.split(",")) <= OF_ONE_HEAD:
            raise GlassformerError(
                f"'{shown(question.text)}': per head, ask for the flops of qkv, of the scores or of the weighted sum."
            )
        if program.spec.group > 1 and set(question.target.split(",")) & SHARED_BY_GROUPS:
            raise GlassformerError(
                f"'{shown(question.text)}': keys and values are shared by groups of heads here, so no one head has them. "
                "Ask for W_Q, the scores or the weighted sum."
            )
        per, scope = per * program.spec.heads, f"{scope}, one head"
    if question.per_token:
        per, scope = per * program.sizes.batch * program.sizes.t, f"{scope}, for each token"
    return per, scope


def _other_operations(question: Question, program: Program, steps: list[Step], value: int) -> Iterator[Other]:
    spec, sizes = program.spec, program.sizes
    flops = question.kind == "flops"
    per, _ = _share(question, program)
    yield Other(
        "multiply-adds" if flops else "FLOPs, a multiply-add counted as two",
        value // 2 if flops else 2 * value,
        code="macs_vs_flops",
    )
    if question.target is None and not question.one_layer:
        layers = sum(_macs(step) for step in steps if step.name.startswith("layers.")) * (2 if flops else 1) // per
        passes = 1 + BACKWARD if question.training else BACKWARD if question.backward else 1
        yield Other("the layers alone", layers * passes)
    if not question.training and not question.backward:
        yield Other(
            "all operations, not only products, in FLOPs",
            sum(step.operation.flops(step.inputs, step.output) for step in steps) // per,
        )
        yield Other("a training step (three times the forward products)", (1 + BACKWARD) * value)
    if question.target is None and not question.one_layer and flops and not question.backward:
        tokens = 1 if question.per_token else sizes.batch * sizes.t
        rule = 6 if question.training else 2
        ledger = count(spec)
        for said, left_out in (
            ("", ()),
            (" outside the embeddings", ("embeddings",)),
            (" of the layers", ("embeddings", "pooler", "head")),
        ):
            parameters = sum(row.count for row in ledger.rows if row.name.partition(".")[0] not in left_out)
            yield Other(f"{rule} FLOPs for each parameter{said} and token, an estimate", rule * parameters * tokens)


def _mistaken_operations(
    question: Question, program: Program, steps: list[Step], cost: Callable[[Iterable[Step]], int], passes: int
) -> Iterator[Other]:
    spec, value = program.spec, passes * cost(steps)
    core = [step for step in steps if _core(step)]
    layered = [step for step in steps if step.name.startswith("layers.")]
    for base, what in ((value, ""), (passes * cost(layered), ", layers alone")):
        scores = passes * cost(core)
        if scores and spec.heads > 1 and not question.one_head:
            yield mistaken(
                "score_cost_times_heads", f"the scores counted once more for every head{what}", base + (spec.heads - 1) * scores
            )
        if scores and scores != base:
            yield mistaken("no_quadratic_term", f"projections and feed-forward alone{what}", base - scores)
        yield mistaken("macs_vs_flops", f"multiply-adds given as FLOPs{what}", base // 2)
    if core and len(core) == len([step for step in steps if _macs(step)]):
        yield mistaken("linear_instead_of_quadratic", "t · d_model instead of t² · d_model", value // program.sizes.t)
    if question.one_head:
        yield mistaken("one_head_vs_all_heads", "all heads together", value * spec.heads)
    if spec.layers > 1 and question.one_layer:
        yield mistaken("stack_for_one_layer", "all layers together", value * spec.layers)
    elif spec.layers > 1 and layered:
        yield mistaken("one_layer_only", "one layer alone", passes * cost(layered) // spec.layers)
    yield from _mistaken_passes(question, value // passes)
    if question.per_token:
        yield mistaken("sequence_length_in_parameters", "all tokens together", value * program.sizes.batch * program.sizes.t)


def _mistaken_passes(question: Question, forward: int) -> Iterator[Other]:
    alike = "the backward pass taken to cost as much as the forward pass"
    if question.training:
        yield mistaken("backward_forgotten", "the forward pass alone", forward)
        yield mistaken("backward_forgotten", alike, 2 * forward)
    elif question.backward:
        yield mistaken("backward_forgotten", alike, forward)
