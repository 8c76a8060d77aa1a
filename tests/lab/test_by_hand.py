"""The by-hand page's server side: sheets, steps, cells, mismatched shapes, and the export formats."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from glassformer.errors import GlassformerError
from glassformer.lab import server
from glassformer.lab.pages import by_hand
from glassformer.lab.pages.by_hand_sheet import document_of, sheet_of, to_text, to_value
from glassformer.lab.start import start
from glassformer.numbers.by_hand import parse_problem, solve, solve_as_far

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def ask():
    """`ask("work", given={…})` is what the page would get: status and document."""
    made = start([], 8131)
    headers = {"x-glassformer-token": made.token}
    with TestClient(server.app(made), base_url="http://127.0.0.1:8131", headers=headers) as client:

        def asking(what: str, **document):
            answer = client.post(f"/api/hand/{what}", json=document)
            return answer.status_code, answer.json()

        yield asking


def flying() -> dict:
    return sheet_of(by_hand.example("flying-vectors"), "flying-vectors")


def cells(page: dict, name: str) -> list[str]:
    step = next(step for step in page["steps"] if step["name"] == name)
    return [text for grid in step["grids"] for row in grid["cells"] for text, _ in row]


@pytest.mark.parametrize("name", list(by_hand.EXAMPLES))
def test_the_labs_examples_are_those_of_the_folder_examples(name):
    own = EXAMPLES / f"{name}.toml"
    held = Path(by_hand.__file__).parents[1] / "problems" / f"{name}.toml"
    if own.exists():
        assert held.read_bytes() == own.read_bytes()
    else:
        assert name == "tom"


@pytest.mark.parametrize("name", [name for name in by_hand.EXAMPLES if name != "misfit"])
def test_a_sheet_gives_the_results_of_its_file(name):
    document = by_hand.example(name)
    sheet = json.loads(json.dumps(sheet_of(document, name)))
    there, back = solve(parse_problem(document)), solve(parse_problem(document_of(sheet)))
    assert back.values.keys() == there.values.keys()
    assert all(json.dumps(back.values[key]) == json.dumps(there.values[key]) for key in there.values)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([0, 1], "0 1"),
        ([[1, 2], [3, 4]], "1 2; 3 4"),
        ([[1, 2]], "1 2;"),
        ({"flying": [1, 1], "arrows": [0, -1]}, "flying: 1 1; arrows: 0 -1"),
        ({"pick": [1, 2]}, "pick 1 2"),
        ([["1/√2", 0.5]], "1/√2 0.5;"),
        ([[[1, 0], [0, 1]], [[2, 0], [0, 2]]], "1 0; 0 1 | 2 0; 0 2"),
        ("identity", "identity"),
    ],
)
def test_numbers_travel_as_text_and_come_back(value, text):
    assert to_text(value) == text
    assert to_value("W", text) == value


def test_a_transposed_matrix_is_written_out():
    assert to_text({"transpose": [[1, 2, 3], [4, 5, 6]]}) == "1 4; 2 5; 3 6"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("q", "1 _", "q, number 2 is empty: enter a number."),
        ("k", "1 1; 0 _", "k, row 2, number 2 is empty: enter a number."),
        ("q", "", "q is empty: give its numbers."),
        ("k", "a: 1; a: 2", "k has two rows named 'a'"),
        ("q", "[1, 2", "q is not understood"),
        ("q", "1 " * 30_000, "q has 60,000 characters: a matrix by hand has at most 40,000."),
    ],
)
def test_what_is_not_a_matrix_is_refused_in_one_line(name, text, line):
    with pytest.raises(GlassformerError, match=line.replace(".", r"\.")):
        to_value(name, text)


def test_the_flying_arrows_give_0_8044(ask):
    status, found = ask("work", **flying())
    assert status == 200
    assert found["fault"] is None
    assert cells(found["page"], "weights") == ["0.8044", "0.1956"]
    line = next(step for step in found["page"]["steps"] if step["name"] == "weights")["lines"][0]
    assert (line["label"], line["then"], line["result"]) == ("weights[flying]", ["2.0281 / 2.5212"], "0.8044")
    assert line["id"] == "weights[s=0]"


def test_a_choice_changes_the_work_and_decimals_can_be_rounded_on_the_way(ask):
    _, unscaled = ask("work", **flying() | {"choices": {"scale": "none"}})
    assert cells(unscaled["page"], "weights") == ["0.8808", "0.1192"]
    _, rounded = ask("work", **flying(), rounded=2)
    assert cells(rounded["page"], "weights") == ["0.81", "0.19"]
    assert rounded["page"]["tables"][0]["title"] == "Effect of rounding"


def test_every_number_of_a_page_opens_down_to_what_was_given(ask):
    _, found = ask("cell", **flying(), cell="weights[s=0]")
    assert found["label"] == "weights[flying]"
    assert abs(found["value"] - 0.8044296825) < 1e-9
    trail = ["weights[s=0]"]
    while found["source"] == "step":
        door = next(part for part in found["numbers"] if not isinstance(part, str))
        trail.append(door["label"])
        _, found = ask("cell", **flying(), cell=door["id"])
    assert trail == ["weights[s=0]", "scores[flying]", "dot[flying]", "q[1]"]
    assert found["value"] == 0


def test_exact_forms_are_shown(ask):
    _, found = ask("cell", **flying(), cell="scores[s=0]")
    assert found["exact"] == "1/√2"


def test_a_product_that_does_not_fit_shows_both_shapes_and_what_came_before(ask):
    sheet = flying()
    sheet["given"] = {"X": "1 2; 3 4", "W_Q": "1 0; 0 1", "W_K": "1 0; 0 1; 1 1", "W_V": "1 0; 0 1"}
    status, found = ask("work", **sheet)
    assert status == 200
    assert [step["name"] for step in found["page"]["steps"]] == ["q"]
    assert found["fault"]["message"].startswith("x W_K does not fit: x is 2 × 2, W_K is 3 × 2, and 2 is not 3.")
    wanted = {"product": "x W_K", "left": "x", "left_size": "2 × 2", "right": "W_K", "right_size": "3 × 2"}
    assert found["fault"]["misfit"] == wanted


def test_work_as_far_as_it_goes_is_the_whole_work_where_all_fits():
    problem = parse_problem(by_hand.example("flying-vectors"))
    solution, error = solve_as_far(problem)
    assert error is None
    assert solution is not None
    assert solution.values == solve(problem).values
    solution, error = solve_as_far(parse_problem(by_hand.example("misfit")))
    assert solution is None
    assert "x W_Q does not fit" in str(error)


def test_errors_have_the_wording_of_the_command_line(ask):
    bad = [
        (flying() | {"kind": "atention"}, "kind 'atention' is not known"),
        (flying() | {"given": {"q": "a b"}}, "Q, number 1 is the text 'a'"),
        (flying() | {"digits": 99}, "--digits 99 is not allowed: use 0 to 15 decimals."),
        (flying() | {"given": ["q"]}, "the sheet must have given as strings by name"),
        (flying() | {"given": {f"q_{i}": "1" for i in range(80)}}, "the sheet has 80 given: at most 60."),
        (flying() | {"choices": {"alignment": "scaled-dto"}}, "alignment 'scaled-dto' is not known"),
        ({"given": {}}, "the problem is empty"),
    ]
    for sheet, line in bad:
        status, found = ask("work", **sheet)
        assert (status, line in found["error"]) == (400, True), found
    status, found = ask("cell", **flying(), cell="weights[s=9]")
    assert status == 400
    status, found = ask("cell", **flying(), cell="nonsense")
    assert (status, "is not a cell" in found["error"]) == (400, True)


def test_a_pasted_problem_file_is_read_and_a_wrong_one_refused(ask):
    status, found = ask("read", text="softmax = [1, 2]\ntemperature = 2")
    assert status == 200
    assert (found["kind"], found["given"], found["choices"]) == ("softmax", {"x": "1 2"}, {"temperature": "2"})
    status, found = ask("read", text="softmax = [1, 2")
    assert (status, "the pasted text" in found["error"]) == (400, True)


@pytest.mark.parametrize(
    ("form", "piece"),
    [
        ("markdown", r"\begin{bmatrix} 0.8044 & 0.1956 \end{bmatrix}"),
        ("latex", r"\section*{"),
        ("html", "<!doctype html>"),
        ("problem", '"kind": "attention"'),
    ],
)
def test_the_page_is_taken_away_in_other_forms(ask, form, piece):
    status, found = ask("export", **flying(), form=form)
    assert status == 200
    assert piece in found["text"]


def test_one_step_is_exported_alone(ask):
    _, found = ask("export", **flying(), form="markdown", step="dot")
    assert r"q = \begin{bmatrix}" in found["text"]
    assert "softmax" not in found["text"]
    _, found = ask("export", **flying(), form="markdown", step="weights")
    assert "0.8044" in found["text"]
    assert "Given" not in found["text"]
    status, found = ask("export", **flying(), form="markdown", step="wieghts")
    assert (status, "is not one of the steps: dot, scores, weights, output" in found["error"]) == (400, True)


def test_exported_html_holds_no_markup_from_the_sheet(ask):
    sheet = flying() | {"title": "<img src=x onerror=alert(1)>", "given": {"q": "0 1", "k": "<b>: 1 1; a: 0 -1"}}
    _, found = ask("export", **sheet, form="html")
    assert "<img" not in found["text"]
    assert "<b>" not in found["text"]


def test_numbers_of_ones_own_are_judged_and_the_mistake_named(ask):
    _, found = ask("claim", **flying(), claim="weights = 0.8808 0.1192")
    assert found["claims"][0]["findings"][0]["codes"] == ["no_scaling"]
    _, found = ask("claim", **flying(), claim="weights = 0.8044 0.1956")
    assert found["claims"][0]["verdict"] == "right"
