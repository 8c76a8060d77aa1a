"""Tables on a terminal of any width."""

import re
import sys

import pytest

from glassformer.show.table import Column, Table
from glassformer.show.terminal import show_on_terminal

VIEW = Table(
    title="parameters",
    columns=(Column("tensor"), Column("licence"), Column("count", right=True)),
    rows=(("embeddings.E_token", "a long licence of many words", "23,440,896"), ("total", "", "109,482,240")),
    notes=("109,482,240 parameters in all.",),
)


def shown(monkeypatch, capsys, columns):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    show_on_terminal(VIEW)
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


@pytest.mark.parametrize("columns", [1, 20, 40, 50, 60, 80, 200])
def test_no_number_is_cut_however_narrow_the_terminal_is(monkeypatch, capsys, columns):
    text = shown(monkeypatch, capsys, columns)
    assert "23,440,896" in text
    assert text.count("109,482,240") == 2


def test_words_fold_where_the_numbers_leave_them_room(monkeypatch, capsys):
    assert max(map(len, shown(monkeypatch, capsys, 50).splitlines())) <= 50
    assert shown(monkeypatch, capsys, 30) == VIEW.text() + "\n", "below that a table is plain text"
