"""`glassformer experiment`, as a person uses it."""

import json

import pytest
from command_line import glassformer


def test_without_a_name_the_experiments_are_listed():
    done = glassformer("experiment")
    assert (done.returncode, done.stderr) == (0, "")
    assert [name for name in "order heads scaling padding norm convention".split() if f"\n{name}" in done.stdout] == [
        "order", "heads", "scaling", "padding", "norm", "convention",
    ]  # fmt: skip
    assert set(json.loads(glassformer("experiment", "--json").stdout)) >= {"order", "norm"}


def test_an_experiment_gives_a_table_json_and_a_picture(tmp_path):
    done = glassformer("experiment", "scaling", "--out", "a.svg", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("picture: a.svg\n")
    assert (tmp_path / "a.svg").exists()
    assert json.loads(glassformer("experiment", "scaling", "--json").stdout)["holds"] is True


def test_a_claim_that_does_not_hold_is_exit_1():
    done = glassformer("experiment", "order", "attend=causal", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["holds"] is False


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("experiment ordr", "unknown experiment 'ordr'. Did you mean 'order'?"),
        ("experiment order heads", "'heads' is not a field: fields are written field=value"),
        ("experiment order --out a.gif", "the name must end in one of .png, .svg."),
        ("experiment order --seed x", "Invalid value for '--seed'"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(line, message):
    done = glassformer(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
