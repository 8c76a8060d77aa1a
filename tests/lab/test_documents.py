"""The lab's responses match their documents, and the front end's types are generated from these."""

import dataclasses
import importlib.util
import json
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from starlette.testclient import TestClient

from glassformer.configs.presets import preset
from glassformer.lab import server, widget
from glassformer.lab.documents import bench, by_hand, check, lab, trace, train, walk
from glassformer.lab.documents import widget as live
from glassformer.lab.pages.by_hand import example
from glassformer.lab.pages.by_hand_sheet import sheet_of
from glassformer.lab.run_lines import point
from glassformer.lab.start import start
from glassformer.lab.wire import MAGIC, plain

WEB = Path(__file__).parents[2] / "web"
PORT = 8141
BERT = {"spec": {"name": "bert-base", "fields": {"t": "16"}}}
SHEET = sheet_of(example("multi-head"), "multi-head")
QUIZ = {"set": "worked-head", "seed": 3}
MODEL = {"model": "tom", "layer": 0}
CELL = "layers.0.attention.weights[head=0,t=1,s=2]"


def faults(value: Any, hint: Any, place: str = "") -> list[str]:
    """Where a value that came over the wire is not of its type; a number may come as a text, since NaN and 10**20 do."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return []
    if origin is NotRequired:
        return faults(value, inner[0], place)
    if origin in (Union, UnionType):
        return [] if any(not faults(value, one) for one in inner) else [f"{place}: {value!r:.60} is no {hint}"]
    if origin is Literal:
        return [] if value in inner else [f"{place}: {value!r:.60} is not one of {inner}"]
    if hint is float:
        return (
            []
            if isinstance(value, int | float | str) and not isinstance(value, bool)
            else [f"{place}: {value!r:.60} is no number"]
        )
    if is_typeddict(hint) or dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        return _record_faults(value, hint, place)
    if origin is dict:
        return [fault for key, one in value.items() for fault in faults(one, inner[1], f"{place}.{key}")]
    if origin is tuple and ... not in inner:
        pairs = zip(value, inner, strict=True)
        return [fault for number, (one, of) in enumerate(pairs) for fault in faults(one, of, f"{place}[{number}]")]
    if origin is not None:
        listed = value if isinstance(value, list) else [None]
        return [fault for number, one in enumerate(listed) for fault in faults(one, inner[0], f"{place}[{number}]")]
    return [] if type(value) is hint else [f"{place}: {value!r:.60} is no {hint.__name__}"]


def _record_faults(value: Any, hint: Any, place: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{place}: {value!r:.60} is no {hint.__name__}"]
    hints = get_type_hints(hint, include_extras=True)
    wanted = {name for name, of in hints.items() if get_origin(of) is not NotRequired}
    found = [f"{place} has no {name}" for name in sorted(wanted - value.keys())]
    found += [f"{place}.{name} is in no type" for name in value if name not in hints]
    known = [(one, hints[name], f"{place}.{name}") for name, one in value.items() if name in hints]
    return found + [fault for one in known for fault in faults(*one)]


@pytest.fixture(scope="module")
def ask():
    made = start([], PORT)
    with TestClient(server.app(made), base_url=f"http://127.0.0.1:{PORT}", headers={"x-glassformer-token": made.token}) as client:

        def asking(path, body):
            answer = client.get(path) if body is None else client.post(path, json=body)
            assert answer.status_code == 200, answer.text
            if answer.content[:4] != MAGIC:
                return answer.json()
            header = json.loads(answer.content[8 : 8 + int.from_bytes(answer.content[4:8], "little")])
            return {name: value for name, value in header.items() if name != "arrays"}

        yield asking


PAIR = "transformer d_model=8 heads=2 d_ff=16 layers=1 vocab=20"

ANSWERS = {
    "/api/lab": (lab.Known, None),
    "/api/bench/fields": (bench.Fields, None),
    "/api/bench/config": (bench.Config, {"text": '{"d_model": 8, "heads": 2}'}),
    "/api/bench/derive": (bench.Derived, BERT | {"open": ["layers.0", "layers.0.attention"]}),
    "/api/bench/shapes": (bench.Shapes, BERT),
    "/api/bench/cost": (bench.CostAnswer, BERT),
    "/api/bench/notation": (bench.Equations, BERT),
    "/api/bench/bridge": (bench.Bridge, {"left": BERT["spec"], "right": {"name": "bert-large", "fields": {}}}),
    "/api/bench/export": (bench.Export, BERT | {"view": "ledger", "form": "markdown"}),
    "/api/hand/examples": (by_hand.Examples, None),
    "/api/hand/read": (by_hand.SheetDocument, {"text": "Q = [[1, 0]]\nK = [[1, 2], [0, 1]]\nV = [[1, 0], [2, 1]]"}),
    "/api/hand/work": (by_hand.Worked, SHEET),
    "/api/hand/cell": (by_hand.OpenedCell, SHEET | {"cell": "weights[head=0,t=0,s=0]"}),
    "/api/hand/claim": (by_hand.Judged, SHEET | {"claim": "weights = 0.5 0.5"}),
    "/api/hand/export": (by_hand.Export, SHEET | {"form": "html"}),
    "/api/check/examples": (check.Known, None),
    "/api/check/text": (check.Checked, {"text": "3 × 4 = 13\n\n3 + 4 = 7\n"}),
    "/api/check/claim": (check.Claimed, {"claim": "params @ attention d_model=512 heads=8 = 6553600"}),
    "/api/check/quiz": (check.Paper, QUIZ),
    "/api/check/quiz/hint": (check.Hint, QUIZ | {"question": "scores", "used": 0}),
    "/api/check/quiz/judge": (check.Judged, QUIZ | {"question": "scores", "used": 9, "answers": {"scores": "[1, 1]"}}),
    "/api/check/quiz/review": (check.Review, QUIZ | {"answers": {"scores": "[1, 1]", "dots": ""}}),
    "/api/trace/models": (trace.Models, None),
    "/api/trace/open": (trace.Opened, MODEL | {"edits": ["drop:0.0"]}),
    "/api/trace/heads": (trace.Heads, MODEL),
    "/api/trace/tensor": (trace.Page, MODEL | {"name": "layers.0.attention.weights"}),
    "/api/trace/cell": (trace.CellDocument, MODEL | {"cell": CELL}),
    "/api/trace/ledger": (
        trace.LedgerDocument,
        {"model": "walk", "text": "Not bad.", "ledger": "why:head.logits[class=0]"},
    ),
    "/api/trace/beams": (trace.Beams, {"model": "random", "spec": PAIR, "text": "a b", "beams": 2}),
    "/api/walk": (walk.Walk, None),
    "/api/train/options": (train.Options, None),
    "/api/train/runs": (train.Rows, None),
    "/api/train/data": (train.Sample, {"data": "digits"}),
}
NO_ANSWER = {
    f"/api/train/{name}" for name in ("start", "stop", "resume", "stream", "mistakes", "overfitting", "shelve")
}  # they need a run


@pytest.mark.parametrize("path", ANSWERS)
def test_an_answer_is_what_its_document_says(ask, path):
    record, body = ANSWERS[path]
    assert faults(ask(path, body), record) == []


def test_every_route_has_a_document():
    made = start([], PORT + 1)
    routes = {route.path for route in server.app(made).app.routes if route.path.startswith("/api/")}
    assert routes == {*ANSWERS, *NO_ANSWER}


@pytest.mark.parametrize(
    "line",
    [
        {"kind": "start", "steps": 10},
        {"kind": "step", "step": 1, "epoch": 1, "loss": "NaN", "accuracy": 0.5, "lr": 0.1},
        {"kind": "epoch", "step": 1, "epoch": 1, "train": {"loss": 1, "accuracy": 1}, "validation": {"loss": 1, "accuracy": 1}},
        {"kind": "end", "step": 1, "epochs": 1, "best": {"loss": 1.0, "accuracy": 1.0, "epoch": 1}, "test": {"accuracy": 0.5}},
    ],
)
def test_a_line_of_a_log_is_a_point(line):
    assert faults(point(line), train.Point) == []


def test_live_views_are_what_their_documents_say():
    from glassformer.numbers.seeded import seeded_run

    run = seeded_run(preset("layer").replace(d_model=4, heads=2), words="a b c")
    assert faults(plain(widget.view_of(run).first()), live.AttentionFirst) == []
    assert faults(plain(widget.view_of(preset("bert-base")).first()), live.EncoderFirst) == []


def test_a_wrong_document_is_detected():
    good = {"name": "a", "multiply_adds": 1, "flops": "99999999999999999999"}
    assert faults(good, bench.CostRow) == []
    assert faults(good | {"flops": None}, bench.CostRow) == [".flops: None is no number"]
    assert faults({"name": "a", "flops": 1}, bench.CostRow) == [" has no multiply_adds"]
    assert faults(good | {"more": 1}, bench.CostRow) == [".more is in no type"]
    assert faults({"text": 1}, check.Block) != []


def wire_types():
    found = importlib.util.spec_from_file_location("wire_types", WEB / "wire_types.py")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


def test_the_types_of_the_front_end_are_made_from_the_documents():
    for path, text in wire_types().made().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not fresh: run 'python web/wire_types.py'"


def test_a_type_is_written_as_typescript_has_it():
    types = wire_types().Types("bench/types", "x")
    assert types.type(list[str | None]) == "(string | null)[]"
    assert types.type(dict[str, tuple[str, int]]) == "Record<string, [string, number]>"
    assert types.type(Literal["a", True]) == '"a" | true'
    assert (types.type(float), types.type(float, finite=True)) == ("WireNumber", "number")
    with pytest.raises(TypeError, match="has no type in TypeScript"):
        types.type(set[int])
