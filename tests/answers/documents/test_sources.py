"""Files and notebooks: read, never run."""

import json

import pytest

from glassformer.answers.documents import check_solution, check_text
from glassformer.errors import GlassformerError


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": kind, "source": source} for kind, source in cells], "nbformat": 4})


def test_cells_are_read_and_outputs_are_not():
    text = json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": ["# One\n", "3 × 4 = 13\n"]},
                {
                    "cell_type": "code",
                    "source": ["x = 5\n", "# 768 * 8 = 6,144"],
                    "outputs": [{"text": ["1 + 1 = 3\n"]}],
                },
            ]
        }
    )
    found = check_text(text, name="a.ipynb", kind="ipynb")
    assert [(one.verdict, one.text) for one in found.findings] == [("wrong", "3 × 4 = 13"), ("right", "768 * 8 = 6,144")]
    assert [found.place(one.line) for one in found.findings] == ["cell 1, line 2", "cell 2, line 2"]
    assert "1 + 1" not in found.text


def test_nothing_in_a_notebook_is_run(tmp_path):
    target = tmp_path / "made"
    code = f"__import__('pathlib').Path({str(target)!r}).touch()  # 1 + 1 = 2"
    found = check_text(notebook(("code", code)), name="a.ipynb", kind="ipynb")
    assert found.counts["right"] == 1
    assert not target.exists()


def test_the_old_notebook_format_is_read():
    old = json.dumps({"worksheets": [{"cells": [{"cell_type": "markdown", "source": "3 + 4 = 7"}]}]})
    assert check_text(old, name="a.ipynb", kind="ipynb").counts["right"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("{}", "no list of cells"),
        ('{"cells": 3}', "no list of cells"),
        ("[1, 2]", "must be an object"),
        ("not json", "is not JSON"),
        ('{"cells": [' + "{}," * 200_001 + "{}]}", "lists and objects"),
    ],
)
def test_an_invalid_notebook_is_a_one_line_error(text, reason):
    with pytest.raises(GlassformerError, match=reason):
        check_text(text, name="a.ipynb", kind="ipynb")


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.tex", "a.MD", "a.markdown"])
def test_files_are_read_by_their_names(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf3 + 4 = 7\r\n5 + 6 = 12\xff\r\n")
    assert check_solution(path).counts["right"] == 1


@pytest.mark.parametrize(
    ("name", "reason"), [("a.pdf", "should end in one of .md"), ("gone.md", "no such file"), (".", "should end")]
)
def test_other_files_are_refused(tmp_path, name, reason):
    with pytest.raises(GlassformerError, match=reason):
        check_solution(tmp_path / name)


def test_large_files_are_not_read(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 10_000_001)
    with pytest.raises(GlassformerError, match="10,000,001 bytes; at most 10,000,000"):
        check_solution(path)


def test_a_windows_text_file_is_read_but_not_other_kinds_of_files(tmp_path):
    path = tmp_path / "a.txt"
    for encoding in ("utf-16", "utf-8-sig", "utf-8"):
        path.write_bytes("3 × 4 = 13".encode(encoding))
        assert check_solution(path).counts["wrong"] == 1
    path.write_bytes("café: 3 * 4 = 13".encode("latin-1"))  # one byte that is no UTF-8
    assert check_solution(path).counts["wrong"] == 1
    for content in (bytes(range(256)) * 4, b"\x7fELF" + b"\0" * 100, "3 × 4 = 13".encode("utf-16-le")):
        path.write_bytes(content)
        with pytest.raises(GlassformerError, match=r" is not a text file: .* Save it as UTF-8 text\."):
            check_solution(path)
