"""The quiz commands as a teacher and a student use them."""

import csv
import json

import pytest
from command_line import glassformer as command

from glassformer.answers.quiz import load_set, variant


def glassformer(*words, text="", cwd=None):
    return command("quiz", *words, text=text, cwd=cwd)


OWN = """
title = "Week 5"
[[question]]
id = "wide"
kind = "quantity"
text = "How many parameters has an attention block of width {d}?"
spec = "attention d_model={d} heads=2"
answer = "params"
parameters = { d = [16, 32, 48, 64, 80, 96, 112, 128] }
"""


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiz")
    (folder / "class.txt").write_text("Ada Lovelace\nBo\n", encoding="utf-8")
    done = glassformer(
        "make", "parameters", "--seed", "7", "--students", "class.txt", "--out", "papers", "--format", "md,html", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Counting parameters: 14 questions for 2 students, 11 files in papers\n"
    return folder


def test_list_names_the_sets():
    done = glassformer("list")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("parameters", "shapes", "worked-head", "self-attention", "encoder-parts"))
    assert {row["set"] for row in json.loads(glassformer("list", "--json").stdout)} >= {"parameters", "shapes"}


def test_make_grade_round_trip(papers):
    key = {name: variant(load_set("parameters"), 7, name).items for name in ("Ada Lovelace", "Bo")}
    rows = [["student", *(item.id for item in key["Bo"])]]
    rows += [[name, *(item.key.text for item in items)] for name, items in key.items()]
    with (papers / "right.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    done = glassformer("grade", "papers", "right.csv", "--json", cwd=papers)
    assert (done.returncode, done.stderr) == (0, "")
    assert [student["marks"] for student in json.loads(done.stdout)["students"]] == [18, 18]
    by_hand = glassformer("grade", "parameters", "right.csv", "--seed", "7", "--students", "class.txt", "--json", cwd=papers)
    assert by_hand.stdout == done.stdout


def test_a_folder_made_from_a_custom_set_is_graded_with_the_numbers_on_its_papers(tmp_path):
    (tmp_path / "week-5.toml").write_text(OWN, encoding="utf-8")
    words = ("--seed", "4", "--students", "8", "--out", "papers", "--format", "md")
    assert glassformer("make", "week-5.toml", *words, cwd=tmp_path).returncode == 0
    keys = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "papers" / "key").iterdir()}
    students = json.loads((tmp_path / "papers" / "quiz.json").read_text(encoding="utf-8"))["students"]
    rows = [f"{one['name']},{keys[one['name']].split('**Answer**')[1].split()[1].replace(',', '')}" for one in students]
    (tmp_path / "right.csv").write_text("\n".join(["student,wide", *rows]), encoding="utf-8")
    done = glassformer("grade", "papers", "right.csv", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["set"] == "week-5"
    again = ("--seed", "4", "--students", "8", "--out", "again", "--format", "md")
    assert glassformer("make", "papers", *again, cwd=tmp_path).returncode == 0  # the same once more
    assert {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "again" / "key").iterdir()} == keys
    (tmp_path / "papers" / "quiz.json").write_text('{"set": 1, "students": [], "seed": 4}', encoding="utf-8")
    refused = glassformer("grade", "papers", "right.csv", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "give the file of the set instead" in refused.stderr


def test_a_wrong_answer_is_exit_1_and_named(papers):
    item = variant(load_set("parameters"), 7, "Bo").items[0]
    wrong = next(wrong for wrong in item.key.wrongs() if wrong.code == "heads_times_full_width")
    (papers / "wrong.csv").write_text(f'student,layer_weights\nbo,"{wrong.text}"\nCy,1\n', encoding="utf-8")
    done = glassformer("grade", "papers", "wrong.csv", cwd=papers)
    assert done.returncode == 1
    assert "heads_times_full_width" in done.stdout
    assert "not in the class, not graded: Cy." in done.stdout
    for form in ("--markdown", "--csv", "--html", "--json"):
        assert glassformer("grade", "papers", "wrong.csv", form, cwd=papers).returncode == 1


def test_existing_papers_are_not_overwritten(papers):
    before = {path: path.read_bytes() for path in (papers / "papers").rglob("*") if path.is_file()}
    done = glassformer("make", "parameters", "--seed", "8", "--students", "class.txt", "--out", "papers", cwd=papers)
    told = "--out papers already contains papers, which are not overwritten: choose a new folder."
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"glassformer: {told}\n")
    assert {path: path.read_bytes() for path in (papers / "papers").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("make parametrs --out x", "no set 'parametrs'. Did you mean 'parameters'?"),
        ("make parameters --out class.txt", "--out class.txt is a file"),
        ("make parameters --out .", "--out . contains other files"),
        ("make parameters --out y --format pdff", "unknown format 'pdff'"),
        ("make parameters --out y --variants 3", "--variants 3 needs a class: add --students"),
        ("make parameters --out y --students 0", "--students 0 must be 1 to 1,000, or a file of names"),
        ("make parameters", "Missing option '--out'"),
        ("grade parameters nothing.csv", "no such file: nothing.csv."),
        ("grade papers class.txt", "needs a column 'student'"),
        ("taek parameters", "quiz has no subcommand 'taek'. Did you mean 'take'?"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(papers, words, message):
    done = glassformer(*words.split(), cwd=papers)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_take_gives_hints_first_then_names_the_mistake_and_derives():
    item = variant(load_set("parameters"), 3).items[0]
    wrong = next(wrong for wrong in item.key.wrongs() if wrong.code == "heads_times_full_width")
    done = glassformer("take", "parameters", "--seed", "3", text=f"{wrong.value}\n{wrong.value}\n{wrong.value}\nquit\n")
    assert done.returncode == 0
    hints = [done.stdout.index(hint[:40]) for hint in item.hints]
    named = done.stdout.index("[heads_times_full_width]")
    assert hints[0] < hints[1] < named < done.stdout.index("derivation")
    assert f"The answer is {item.key.text}" in done.stdout
    assert "Score: 0 of 2 (1 of 14 questions)" in done.stdout
    assert "1 × full-width projections multiplied by the number of heads" in done.stdout


def test_take_keeps_score_and_a_hint_costs_its_share():
    items = variant(load_set("parameters"), 3).items
    done = glassformer("take", "parameters", "--seed", "3", text=f"{items[0].key.text}\nhint\n{items[1].key.text}\n")
    assert "Right. +2" in done.stdout
    assert "Right. +1.33" in done.stdout
    assert "Score: 3.33 of 4 (2 of 14 questions)" in done.stdout


def test_take_with_all_right_answers_wins_every_mark():
    items = variant(load_set("self-attention"), 0).items
    done = glassformer("take", "self-attention", "--json", text="".join(f"{item.key.text}\n" for item in items))
    document = json.loads(done.stdout)
    assert document["score"] == document["of"] == float(load_set("self-attention").marks)


def test_take_handles_any_input():
    done = glassformer("take", "worked-head", text="\x00\n<script>\n=cmd()\n" + "9" * 5000 + "\nskip\n\n[[[[\nhint\nhint\nhint\n")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_the_help_has_examples():
    for words in ((), ("--help",), ("make", "--help"), ("grade", "--help"), ("take", "--help")):
        done = glassformer(*words)
        assert done.returncode == 0
        assert "glassformer quiz" in done.stdout
