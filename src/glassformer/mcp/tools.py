"""The tools: typed functions that use the same API as the command line; descriptions.toml has their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.files.documents import parse_json
from glassformer.mcp.arguments import Document, Tool
from glassformer.mcp.asking import answers, verdicts
from glassformer.mcp.folders import Folders
from glassformer.mcp.results import MOST_ROWS, ROWS, fitted
from glassformer.mcp.specs import model

Text: TypeAlias = Annotated[str, Field(max_length=2_000)]
Several: TypeAlias = Annotated[list[Text], Field(min_length=1, max_length=20)]
Rows: TypeAlias = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Decimals: TypeAlias = Annotated[int, Field(ge=0, le=15)]
Solution: TypeAlias = Annotated[str, Field(max_length=200_000)]
Dtype: TypeAlias = Literal["fp64", "fp32", "bf16", "fp16"]

DTYPES = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
TERMS = 8  # terms shown of a long sum
MORE = ": ask for more with 'rows'"


def ask(folders: Folders, *, expression: Text | Several, spec: Text = "") -> Document:
    return answers(folders, expression, spec)


def check(folders: Folders, *, relation: Text | Several, spec: Text = "", claim: Text = "") -> Document:
    return verdicts(folders, relation, spec, claim)


def count(folders: Folders, *, spec: Text, only: Text = "", without: Text = "", rows: Rows = ROWS) -> Document:
    from glassformer import algebra

    asked = model(folders, spec).request()
    found = algebra.count(asked.spec, without=without or None, only=only or None, label=asked.label)
    tensors = [row.tensor for row in found.rows]
    return fitted(found.to_dict(), rows=rows, way_out=f": narrow with only='attention', or{MORE[1:]}", tensors=tensors)


def shapes(
    folders: Folders,
    *,
    spec: Text,
    names: Text = "",
    columns: bool = False,
    head: Annotated[int, Field(ge=0)] | None = None,
    rows: Rows = ROWS,
) -> Document:
    from glassformer import algebra
    from glassformer.program import build

    asked = model(folders, spec).request()
    program = build(asked.spec, batch=asked.batch, t=asked.t)
    found = algebra.shapes(program, convention="columns" if columns else "rows", head=head, label=asked.label)
    chosen = [row for row in found.rows if names in row.name]
    if not chosen:
        near = nearest(names, [*found, *(word for name in found for word in name.split("."))])
        raise GlassformerError(f"no tensor has {shown(names)} in its name.{near} Omit 'names' to list all.")
    document = found.to_dict() | {"rows": [row.to_dict() for row in chosen]}
    way_out, tensors = f": narrow with names='layers.0.attention', or{MORE[1:]}", [row.tensor for row in chosen]
    return fitted(document, rows=rows, way_out=way_out, tensors=tensors)


def cost(
    folders: Folders,
    *,
    spec: Text,
    train: bool = False,
    dtype: Dtype = "fp32",
    optimizer: Literal["adamw", "sgd", "none"] = "adamw",
    fused: bool = False,
    fit: Text = "",
    rows: Rows = 12,
) -> Document:
    from glassformer import algebra, api

    asked = model(folders, spec).request()
    chosen: dict[str, Any] = {"kernel": "fused" if fused else "materialised", "dtype": DTYPES[dtype], "optimizer": optimizer}
    found = api.cost(asked, train=train, **chosen)
    document, tensors = found.to_dict(), [step.output for step in found.program.steps]
    if fit:
        limit = algebra.parse_bytes(fit)
        document["fit"] = {"bytes": limit, "batch": api.largest_batch(asked, limit, train=train, **chosen)}
    return fitted(document, rows=rows, way_out=f": 'parts' has the sums;{MORE[1:]}", tensors=tensors)


def explain(
    folders: Folders,
    *,
    spec: Text,
    tensor: Text,
    cell: dict[str, int],
    text: Text = "",
    tokens: Annotated[list[int], Field(max_length=1_000)] | None = None,
    seed: Annotated[int, Field(ge=0, le=2**31)] | None = None,
    depth: Annotated[int, Field(ge=0, le=4)] = 1,
) -> Document:
    from glassformer import api

    asked = model(folders, spec)
    if foreign := cell.keys() & {"self", "name"}:
        raise GlassformerError(f"'{min(foreign)}' is not an axis of {shown(tensor)}: the tool 'shapes' lists its axes.")
    run = api.run(asked.name, text=text or None, tokens=tokens, seed=seed, as_class=asked.as_class, **asked.fields)
    return fitted(run.explain(tensor, **cell).to_dict(depth=depth, most=TERMS))


def work(
    folders: Folders,
    *,
    problem: dict[str, Any] | Text,
    claims: dict[str, Any] | None = None,
    results: Text = "",
    digits: Decimals = 4,
    rounded: Decimals | None = None,
    rows: Rows = ROWS,
) -> Document:
    from glassformer import api
    from glassformer.numbers.by_hand import load_problem, parse_problem, solve
    from glassformer.show.work import worksheet

    if isinstance(problem, str) and problem.lstrip().startswith("{"):  # an object passed as text
        problem = parse_json(problem, "the problem")
    given = parse_problem(problem, "the problem") if isinstance(problem, dict) else load_problem(folders.inside(problem))
    if claims:
        return fitted(api.check_worked(given, claims).to_dict(), rows=rows, way_out=MORE)
    if wanted := tuple(word.strip() for word in results.split(",") if word.strip()):
        given = given.replace(ask=wanted)
    exact = solve(given)
    sheet = worksheet(exact, digits, rounded)
    document = sheet.solution.to_dict(sheet.digits)
    if rounded is not None:
        document |= {"rounded": rounded, "moved": exact.moved(sheet.solution)}
    return fitted(document, rows=rows, way_out=f": narrow with results='output', or{MORE[1:]}")


def check_solution(folders: Folders, *, text: Solution = "", file: Text = "", rows: Rows = ROWS) -> Document:
    from glassformer import api
    from glassformer.answers.documents import check_text

    if bool(text.strip()) == bool(file):
        raise GlassformerError("give the solution either as 'text' or as 'file'.")
    found = check_text(text) if text else api.check_solution(folders.inside(file))
    return fitted(found.to_dict(), rows=rows, way_out=MORE)


def presets(_: Folders, *, name: Text = "", fields: bool = False, decoders: bool = False) -> Document:
    from glassformer import api
    from glassformer.configs.presets import preset

    if name:
        return fitted(preset(name).to_dict(), rows=MOST_ROWS)
    return fitted({"fields": api.fields(decoders=decoders)}, rows=MOST_ROWS) if fields else dict(api.presets(decoders=decoders))


FUNCTIONS: tuple[Callable[..., Document], ...] = (ask, check, count, shapes, cost, explain, work, check_solution, presets)
TOOLS = {tool.name: tool for tool in map(Tool, FUNCTIONS)}


def call(name: str, arguments: Mapping[str, Any], folders: Folders) -> Document:
    """Call a tool by name."""
    if name not in TOOLS:
        raise GlassformerError(f"unknown tool '{shown(name)}'.{nearest(name, TOOLS)} Tools: {', '.join(TOOLS)}.")
    return TOOLS[name].call(arguments, folders)
