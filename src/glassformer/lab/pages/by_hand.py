"""By hand: a sheet of small matrices, worked step by step, every number open."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json, parse_toml
from glassformer.lab.documents import by_hand as documents
from glassformer.lab.pages.by_hand_sheet import document_of, kinds, problem_of, sheet_of
from glassformer.lab.wire import answer, asked, text_in
from glassformer.numbers.by_hand import Solution, WorkedStep, solve, solve_as_far

# The order in which the examples stand on the page, and what each is about.
EXAMPLES = {
    "flying-vectors": "attention, one query",
    "flying": "vectors sliced from embeddings",
    "tom": "one word at two positions",
    "multi-head": "two heads, then W_O",
    "causal": "a mask",
    "columns": "tokens as columns",
    "cross-attention": "keys from another text",
    "additive": "additive alignment",
    "softmax": "scores into weights",
    "layer-norm": "normalising a vector",
    "positions": "sines and cosines",
    "ffn": "the feed-forward block",
    "encoder-layer": "a whole layer",
    "misfit": "a product with mismatched shapes",
}
FORMS = ("markdown", "latex", "html", "problem")
MOST_DIGITS = 15


async def examples(_: Request) -> Response:
    """The worked examples as sheets, and every kind of problem with what it takes."""
    listed: list[documents.Example] = [
        {"name": name, "about": about, **sheet_of(example(name), name)} for name, about in EXAMPLES.items()
    ]
    found: documents.Examples = {"examples": listed, "kinds": kinds()}
    return answer(found)


async def read(request: Request) -> Response:
    """A pasted problem file as a sheet."""
    text = text_in(await asked(request), "text")
    source = "the pasted text"
    document = parse_json(text, source) if text.lstrip().startswith("{") else parse_toml(text, source)
    return answer(sheet_of(document, source))


async def work(request: Request) -> Response:
    """The sheet worked out: what is given, every step; what does not fit, with everything that comes before it."""
    return answer(await _do(request, _worked))


async def cell(request: Request) -> Response:
    """One number of it, opened."""
    return answer(await _do(request, _cell))


async def claim(request: Request) -> Response:
    """Numbers of one's own against those of the sheet: right, carried forward, or the mistake."""
    return answer(await _do(request, _claim))


async def export(request: Request) -> Response:
    """The whole page, or one step of it, in another form."""
    return answer(await _do(request, _exported))


async def _do(request: Request, reading: Callable[[dict[str, Any]], Any]) -> Any:
    return await request.app.state.lab.workers.do(_plainly, reading, await asked(request))


# A problem file is written, the page is clicked: what an error advises, in the page's words.
IN_THE_PAGE = (
    (re.compile(r'write (\w+) = "([^"]*)"'), r"choose the \1 \2"),
    (re.compile(r'write (\w+) = \{transpose = …\}, or apply = "[^"]*" for all matrices'), r"click 'transpose' below \1"),
    (re.compile(r'apply = "[^"]*" turns both'), "click 'transpose' below both"),
    (re.compile(r'write numbers without quotes; only fractions and roots stand in quotes, as in "7/3" or "1/√2"'),
     "a cell takes a number, a fraction such as 7/3 or a root such as 1/√2"),
)  # fmt: skip


def _on_the_page(error: GlassformerError) -> str:
    """An error without the name of the sheet, which is no file, and with advice that the page can follow."""
    line = str(error).removeprefix("sheet: ")
    for pattern, words in IN_THE_PAGE:
        line = pattern.sub(words, line)
    return line


def _plainly(reading: Callable[[dict[str, Any]], Any], document: dict[str, Any]) -> Any:
    """An answer, or an error in the page's words."""
    try:
        return reading(document)
    except GlassformerError as error:
        raise GlassformerError(_on_the_page(error)) from None


def _worked(document: dict[str, Any]) -> documents.Worked:
    from glassformer.lab.pages.by_hand_cells import misfit, page_of
    from glassformer.show.work import worksheet

    digits, rounded = _decimals(document)
    solution, error = solve_as_far(problem_of(document))
    line = _on_the_page(error) if error else None
    fault: documents.SheetFault | None = {"message": line, "misfit": misfit(line)} if line else None
    if solution is None:
        return {"page": None, "fault": fault}
    return {"page": page_of(worksheet(solution, digits, rounded)), "fault": fault}


def _cell(document: dict[str, Any]) -> documents.OpenedCell:
    from glassformer.lab.pages.by_hand_cells import opened_cell
    from glassformer.show.work import worksheet

    digits, rounded = _decimals(document)
    solution, error = solve_as_far(problem_of(document))
    if solution is None:
        assert error is not None
        raise error
    return opened_cell(worksheet(solution, digits, rounded), text_in(document, "cell"))


def _claim(document: dict[str, Any]) -> documents.Judged:
    from glassformer.answers.problems import check_worked
    from glassformer.answers.problems.claims import claim_in_words

    name, numbers = claim_in_words(text_in(document, "claim")[:4000])
    return cast(documents.Judged, check_worked(problem_of(document), {name: numbers}).to_dict())


def _exported(document: dict[str, Any]) -> documents.Export:
    from glassformer.show.markup import page
    from glassformer.show.work import worksheet

    form, step = document.get("form"), document.get("step")
    if form not in FORMS:
        raise GlassformerError(f"form={shown(form)} is not known: {', '.join(FORMS)}.")
    if form == "problem":
        return {"text": json.dumps(document_of(document), ensure_ascii=False, indent=1) + "\n"}
    digits, rounded = _decimals(document)
    solution = solve(problem_of(document))
    solution = solution if step is None else one_step(solution, step)
    text = getattr(worksheet(solution, digits, rounded), form)()
    return {"text": page(solution.title, text, sheets=()) if form == "html" else f"{text}\n"}


@dataclass(frozen=True, repr=False)
class OneStep(Solution):
    """A solution of which one step is shown, with what is given to it."""

    only: str = ""

    @cached_property
    def needed(self) -> frozenset[str]:
        return frozenset({self.only, *(tensor.name for tensor in self.program.step_of[self.only].inputs)})

    @cached_property
    def steps(self) -> list[WorkedStep]:
        return [step for step in super().steps if step.name == self.only]


def one_step(solution: Solution, name: Any) -> OneStep:
    """One step of a solution as a page of its own."""
    names = [step.name for step in solution.steps]
    if name not in names:
        raise GlassformerError(f"step={shown(name)} is not one of the steps: {', '.join(names)}.")
    fields = {field.name: getattr(solution, field.name) for field in dataclasses.fields(Solution)}
    title = f"{solution.title}: {name}"
    return OneStep(
        **fields
        | {"problem": solution.problem.replace(title=title), "notes": (), "others": (), "only": name, "requested": (name,)}
    )


def example(name: str) -> dict[str, Any]:
    """A worked example by its name."""
    text = files("glassformer.lab").joinpath("problems", f"{name}.toml").read_text(encoding="utf-8")
    return parse_toml(text, name)


def _decimals(document: dict[str, Any]) -> tuple[int, int | None]:
    """How many decimals are shown, and how many are carried."""
    found = []
    for name, otherwise in (("digits", 4), ("rounded", None)):
        value = document.get(name, otherwise)
        if value is not None and (type(value) is not int or not 0 <= value <= MOST_DIGITS):
            raise GlassformerError(f"--{name} {shown(value)} is not allowed: use 0 to {MOST_DIGITS} decimals.")
        found.append(value)
    return 4 if found[0] is None else found[0], found[1]


routes = [
    Route("/api/hand/examples", examples),
    Route("/api/hand/read", read, methods=["POST"]),
    Route("/api/hand/work", work, methods=["POST"]),
    Route("/api/hand/cell", cell, methods=["POST"]),
    Route("/api/hand/claim", claim, methods=["POST"]),
    Route("/api/hand/export", export, methods=["POST"]),
]
