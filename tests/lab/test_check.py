"""The check page's server side: annotated lines, claims in one line, and a quiz whose whole memory is the request."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from glassformer.answers.quiz import load_set, variant
from glassformer.lab import server
from glassformer.lab.pages import check, check_quiz
from glassformer.lab.start import start
from glassformer.show.quiz.report import points

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def ask():
    made = start([], 8132)
    headers = {"x-glassformer-token": made.token}
    with TestClient(server.app(made), base_url="http://127.0.0.1:8132", headers=headers) as client:

        def asking(what: str, **document):
            answer = client.post(f"/api/check/{what}", json=document)
            return answer.status_code, answer.json()

        yield asking


def test_the_labs_solutions_are_those_of_the_folder_examples():
    for name in check.EXAMPLES:
        held = Path(check.__file__).parents[1] / "solutions" / name
        assert held.read_bytes() == (EXAMPLES / name).read_bytes()


def test_every_line_comes_back_as_it_was_written_with_its_mark(ask):
    text = (EXAMPLES / "solution.md").read_text(encoding="utf-8")
    _, found = ask("text", text=text)
    assert ["".join(part for part, _ in line["parts"]) for line in found["lines"]] == text.rstrip("\n").split("\n")
    marks = {line["number"]: line["mark"] for line in found["lines"] if line["mark"]}
    assert marks == {5: "wrong", 6: "right", 7: "carried", 8: "wrong", 9: "carried", 11: "right", 15: "right", 17: "wrong"}
    assert found["summary"] == "3 right, 3 wrong, 2 carried forward, 0 not understood."


def test_a_hint_names_the_mistake_and_keeps_the_answer_back(ask):
    _, found = ask("text", text="feed-forward: $2 \\times 512 \\times 2048 = 2,079,152$")
    notes = [note for line in found["lines"] for note in line["notes"] if note["verdict"] == "wrong"]
    assert notes
    assert notes[0]["code"] == "digits_exchanged"
    assert "2,097,152" not in notes[0]["hint"] + notes[0]["name"]
    assert "2,097,152" in " ".join(notes[0]["answer"])


def test_the_heads_that_are_too_many_are_named_with_the_step_done_right(ask):
    _, found = ask("text", text=(EXAMPLES / "solution.md").read_text(encoding="utf-8"))
    note = next(note for note in found["lines"][4]["notes"] if note["verdict"] == "wrong")
    assert note["code"] == "heads_times_full_width"
    assert "Correct: 3 × 512 × 8 × 64 = 786,432." in " ".join(note["answer"])
    assert "786,432" not in note["hint"]


def test_letters_outside_the_first_plane_do_not_move_the_marks(ask):
    _, found = ask("text", text="𝒳 é 🙂 $3 \\times 4 = 13$")
    assert [part for part, _ in found["lines"][0]["parts"]] == ["𝒳 é 🙂 $", "3 \\times 4 = 13", "$"]


def test_nothing_and_too_much_are_answered(ask):
    status, found = ask("text", text="")
    assert (status, found["summary"]) == (200, "0 right, 0 wrong, 0 carried forward, 0 not understood.")
    status, found = ask("text", text="x" * 400_001)
    assert (status, "at most 400,000 are checked here" in found["error"]) == (400, True)
    assert ask("text", text=3)[0] == 400
    assert ask("text", text="x", kind="docx")[0] == 400


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("params @ bert-base = 110M", "right"),
        ("params(ffn, layer=0) @ bert-base = 2*d_model*d_ff", "convention"),
        ("params @ layer d_model=64 heads=4 d_k=16 d_ff=120 = 27648", "convention"),
        ("params @ attention d_model=512 heads=8 = 6553600", "wrong"),
        ("shape(weights) @ bert-base t=5 = 768 x 768", "wrong"),
    ],
)
def test_a_claim_in_one_line_is_judged(ask, line, verdict):
    status, found = ask("claim", claim=line)
    assert (status, found["verdict"]) == (200, verdict)
    assert found["derivation"]


def test_a_wrong_claim_names_its_mistake(ask):
    _, found = ask("claim", claim="params @ attention d_model=512 heads=8 = 6553600")
    assert found["mistakes"][0]["codes"] == ["heads_times_full_width"]
    assert found["truth"].startswith("It is 1,050,624")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "the expression is empty"),
        ("110M", "is not a claim: write a relation, as in 'params = 110M'"),
        ("params @ bert-base", "is not a claim"),
        ("params @ bert-bse = 3", "Did you mean 'bert-base'?"),
        ("params @ /etc/passwd = 1", "expected a model after '@'"),
        ("params @ ./config.json = 1", "is not a preset, and files are not opened here"),
        ("= 3", "unexpected '='"),
    ],
)
def test_an_invalid_claim_is_refused_in_one_line(ask, line, says):
    status, found = ask("claim", claim=line)
    assert status == 400
    assert says in found["error"]


def test_a_quiz_of_three_is_drawn_from_the_seed_and_keeps_no_memory(ask):
    asked = {"set": "parameters", "seed": 7, "n": 3}
    first, again = ask("quiz", **asked)[1], ask("quiz", **asked)[1]
    assert first == again
    assert [question["number"] for question in first["questions"]] == [1, 2, 3]
    assert ask("quiz", **asked | {"seed": 8})[1] != first
    whole = ask("quiz", set="parameters", seed=7)[1]
    assert len(whole["questions"]) == len(load_set("parameters").questions)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_a_question_is_never_drawn_without_the_one_it_speaks_of(n):
    for seed in range(6):
        own = check_quiz.drawn("worked-head", seed, n)
        assert len(own.items) == n
        names = {item.id for item in own.items}
        assert all(not item.template.same_as or item.template.same_as in names for item in own.items)


def test_a_miss_gives_the_hint_then_the_mistake_and_the_marks_shrink(ask):
    own = variant(load_set("parameters"), 7)
    item = next(item for item in own.items if item.options and item.hints)
    wrong = next(option for option in item.options if option.code)
    right = next(option for option in item.options if not option.code)
    asked = {"set": "parameters", "seed": 7, "question": item.id}
    _, first = ask("quiz/judge", **asked, answers={item.id: wrong.letter}, used=0)
    assert (first["again"], first["says"]) == (True, f"Not yet. Hint: {item.hints[0]}")
    _, last = ask("quiz/judge", **asked, answers={item.id: wrong.letter}, used=len(item.hints))
    assert last["again"] is False
    assert last["mistakes"][0]["code"] == wrong.code
    assert last["answer_is"] == f"The answer is {item.key.text}"
    _, better = ask("quiz/judge", **asked, answers={item.id: right.letter}, used=1)
    assert better["won"] == points(item.marks * len(item.hints) / (len(item.hints) + 1))


def test_the_review_counts_as_the_command_line_does(ask):
    asked = {"set": "parameters", "seed": 7, "n": 3}
    questions = ask("quiz", **asked)[1]["questions"]
    own = check_quiz.drawn("parameters", 7, 3)
    answers = {item.id: item.key.text for item in own.items[:1]} | {own.items[1].id: ""}
    _, found = ask("quiz/review", **asked, answers=answers, hints={})
    assert found["rows"][0]["says"].startswith("Right. +")
    assert found["rows"][1]["verdict"] == "skipped"
    assert found["score"].endswith(f"(2 of {len(questions)} questions)")


def test_a_quiz_opens_no_files_and_refuses_nonsense(ask):
    for document in (
        {"set": "../../pyproject.toml"},
        {"set": "/etc/passwd"},
        {"set": "parameters", "seed": -1},
        {"set": "parameters", "seed": "7"},
        {"set": "parameters", "n": 0},
    ):
        status, found = ask("quiz", **document)
        assert (status, list(found)) == (400, ["error", "field"])
    assert ask("quiz/judge", set="parameters", question="nothing", answers={})[0] == 400
    assert ask("quiz/judge", set="parameters", question="layer", answers={"layer": 3})[0] == 400
    assert ask("quiz/review", set="parameters", answers={}, hints={"layer": -1})[0] == 400
