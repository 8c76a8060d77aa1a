"""The command `glassformer check FILE`."""

import json

import pytest
from command_line import glassformer
from solution_texts import RIGHT, TRAPPED


def check(*words):
    return glassformer("check", *words)


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.tex"])
def test_a_right_solution_exits_0(file, name):
    done = check(file(name, "$3 \\times 4 = 12$\n"))
    assert (done.returncode, done.stderr) == (0, "")
    counted, _, rest = done.stdout.splitlines()[-1].partition(". ")
    assert counted == "1 right, 0 wrong, 0 carried forward, 0 not understood"
    assert rest.startswith("The written statements were checked;")


@pytest.mark.parametrize("text", ["3 × 4 = 13\n", TRAPPED, "```glassformer\nspec: bert-base\nparams = 5\n```\n"])
def test_a_wrong_claim_a_trap_and_a_wrong_answer_exit_1(file, text):
    done = check(file("a.md", text))
    assert (done.returncode, done.stderr) == (1, "")
    assert "1 wrong" in done.stdout


def test_claims_that_are_not_understood_are_not_called_wrong(file):
    done = check(file("a.md", "```glassformer\nspec: nobody\nparams = 5\n```\n"))
    assert done.returncode == 0
    assert "1 not understood" in done.stdout


def test_a_notebook_is_read_and_never_run(file, tmp_path):
    cells = [
        {"cell_type": "code", "source": f"open({str(tmp_path / 'ran')!r}, 'w')\n# 3 * 4 = 13"},
        {"cell_type": "markdown", "source": ["$2 \\times 3 = 6$"]},
    ]
    done = check(file("a.ipynb", json.dumps({"cells": cells, "nbformat": 4})))
    assert done.returncode == 1
    assert "1 right, 1 wrong" in done.stdout
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("form", ["json", "html", "markdown", "latex"])
def test_every_form_is_given(file, form):
    done = check(file("a.md", TRAPPED), f"--{form}")
    assert (done.returncode, done.stderr) == (1, "")
    assert "feature" in done.stdout


def test_json_is_one_document(file):
    document = json.loads(check(file("a.md", RIGHT["rows"]), "--json").stdout)
    assert document["counts"]["wrong"] == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.ipynb", "{", "a.ipynb"),
        ("a.ipynb", "[1, 2]", "a.ipynb"),
        ("a.ipynb", '{"cells": 3}', "is not a notebook"),
        ("a.md", b"0" * 10_000_001, "at most 10,000,000"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_and_exit_2(file, name, content, said):
    done = check(file(name, content))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_a_missing_file_and_a_folder_are_one_line_and_exit_2(tmp_path):
    (tmp_path / "b.md").mkdir()
    assert "no such file" in check(tmp_path / "a.md").stderr
    assert "is a folder" in check(tmp_path / "b.md").stderr
    assert check(tmp_path / "a.md").returncode == 2


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00\x01", b"9**9**9**9 = 1", b"(" * 100_000 + b" = 1", b"1 + " * 100_000 + b"1 = 2"],
)
def test_hostile_files_are_read_without_a_traceback(file, content):
    done = check(file("a.md", content))
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty: there is nothing to check. Was it saved?"),
        (b"\x00" * 1000, "is not a text file: too many of its bytes are not UTF-8. Save it as UTF-8 text."),
    ],
    ids=["empty", "zeros"],
)
def test_a_binary_file_is_a_one_line_error_and_exit_2(file, content, said):
    done = check(file("a.md", content))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
