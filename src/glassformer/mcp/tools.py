"""The tools: typed functions over the same calls as the command line; descriptions.toml has their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from glassformer.mcp.arguments import Document, Tool
from glassformer.mcp.asking import answers, verdicts
from glassformer.mcp.folders import Folders
from glassformer.mcp.results import MOST_ROWS, ROWS, fitted
from glassformer.mcp.specs import model
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.files import parse_json

Text: TypeAlias = Annotated[str, Field(max_length=2_000)]
Several: TypeAlias = Annotated[list[Text], Field(min_length=1, max_length=20)]
Rows: TypeAlias = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Decimals: TypeAlias = Annotated[int, Field(ge=0, le=15)]
Solution: TypeAlias = Annotated[str, Field(max_length=200_000)]
Dtype: TypeAlias = Literal["fp64", "fp32", "bf16", "fp16"]

DTYPES = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
TERMS = 8  # of a long sum, that are shown
MORE = ": ask for more with 'rows'"


def ask(folders: Folders, *, expression: Text | Several, spec: Text = "") -> Document:
    return answers(folders, expression, spec)


def check(folders: Folders, *, relation: Text | Several, spec: Text = "", claim: Text = "") -> Document:
    return verdicts(folders, relation, spec, claim)


def count(folders: Folders, *, spec: Text, only: Text = "", without: Text = "", rows: Rows = ROWS) -> Document:
    from glassformer import algebra

    asked = model(folders, spec).request()
    found = algebra.count(asked.spec, without=without or None, only=only or None, label=asked.label)
    return fitted(found.to_dict(), rows=rows, way_out=f": narrow with only='attention', or{MORE[1:]}")


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
    found = algebra.shapes(program, convention="columns" if columns else "rows", head=head, label=asked.label).to_dict()
    known = [row["name"] for row in found["rows"]]
    found["rows"] = [row for row in found["rows"] if names in row["name"]]
    if not found["rows"]:
        near = nearest(names, [*known, *(part for name in known for part in name.split("."))])
        raise GlassformerError(f"no tensor has {shown(names)} in its name.{near} Leave 'names' out to list all.")
    return fitted(found, rows=rows, way_out=f": narrow with names='layers.0.attention', or{MORE[1:]}")


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
    from glassformer import algebra
    from glassformer.program import build

    asked = model(folders, spec).request()
    chosen: dict[str, Any] = {"kernel": "fused" if fused else "materialised", "dtype": DTYPES[dtype], "optimizer": optimizer}
    program = build(asked.spec, batch=asked.batch, t=asked.t)
    found = algebra.cost(program, which="training" if train else "forward", label=asked.label, **chosen).to_dict()
    if fit:
        limit = algebra.parse_bytes(fit)
        found["fit"] = {"bytes": limit, "batch": algebra.largest_batch(asked.spec, limit, t=asked.t, training=train, **chosen)}
    return fitted(found, rows=rows, way_out=f": 'parts' has the sums;{MORE[1:]}")


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

    if isinstance(problem, str) and problem.lstrip().startswith("{"):  # an object that was written as text
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


def presets(_: Folders, *, name: Text = "", fields: bool = False) -> Document:
    from glassformer.spec import defaults, field_docs, field_rules
    from glassformer.spec.presets import preset, preset_doc, preset_names

    if name:
        return fitted(preset(name).to_dict(), rows=MOST_ROWS)
    if fields:
        rules = field_rules()
        told = [
            {"field": field, "doc": doc, "choices": list(rules[field].choices), "default": defaults()[field]}
            for field, doc in field_docs().items()
        ]
        return fitted({"fields": told}, rows=MOST_ROWS)
    return {known: preset_doc(known) for known in preset_names()}


FUNCTIONS: tuple[Callable[..., Document], ...] = (ask, check, count, shapes, cost, explain, work, check_solution, presets)
TOOLS = {tool.name: tool for tool in map(Tool, FUNCTIONS)}


def call(name: str, arguments: Mapping[str, Any], folders: Folders) -> Document:
    """The result of one call."""
    if name not in TOOLS:
        raise GlassformerError(f"unknown tool '{shown(name)}'.{nearest(name, TOOLS)} Tools: {', '.join(TOOLS)}.")
    return TOOLS[name].call(arguments, folders)
