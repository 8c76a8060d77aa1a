"""`glassformer check problem.toml`: claims from the command line, from the file and from another file."""

import json

import pytest
from click.testing import CliRunner

from glassformer.cli.answers import check
from glassformer.errors import GlassformerError

PROBLEM = "Q = [0, 1]\nK = [[1, 1], [0, -1]]\nV = [[1, 1], [-1, -1]]\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.toml").write_text(PROBLEM)

    def runs(*words):
        return CliRunner().invoke(check, list(words))

    return runs


def test_several_claims_are_judged_together_and_a_wrong_one_is_exit_1(run):
    done = run("problem.toml", "--claim", "weights = [0.6225, 0.3775]", "--claim", "output = [0.245, 0.245]")
    assert done.exit_code == 1
    assert "imply a score gap of 0.5" in done.output
    assert "it follows from weights as claimed" in done.output


def test_a_right_claim_is_exit_0(run):
    assert run("problem.toml", "--claim", "[0.6089, 0.6089]").exit_code == 0


def test_json_is_one_document(run):
    document = json.loads(run("problem.toml", "--claim", "weights = [0.8808, 0.1192]", "--json").output)
    assert document["claims"][0]["findings"][0]["codes"] == ["no_scaling"]


def test_claims_are_in_the_problem_or_in_a_separate_file(run, tmp_path):
    (tmp_path / "own.toml").write_text(PROBLEM + '[claims]\nweights = "[0.8044, 0.1956]"\n')
    assert run("own.toml").exit_code == 0
    (tmp_path / "claims.json").write_text('{"weights": [0.6, 0.4]}')
    assert run("problem.toml", "--claims", "claims.json").exit_code == 1


def test_a_json_problem_is_read_too(run, tmp_path):
    (tmp_path / "problem.json").write_text(json.dumps({"softmax": [1, 2], "claims": {"output": [0.2689, 0.7311]}}))
    assert run("problem.json").exit_code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["problem.toml"], "there are no claims"),
        (["problem.toml", "--claim", "wights = 3"], "Did you mean 'weights'"),
        (["problem.toml", "--claim", "weights = 3", "--claim", "weights = 4"], "claimed twice"),
        (["missing.toml", "--claim", "1"], "no such file"),
        (["params", "bert-base", "--claim", "1", "--claim", "2"], "give --claim once"),
        (["params", "bert-base"], "is not a claim"),
    ],
)
def test_an_invalid_claim_is_a_one_line_error(run, words, why):
    done = run(*words)
    assert isinstance(done.exception, GlassformerError)
    assert why in str(done.exception)


def test_a_question_about_a_spec_is_still_checked(run):
    assert run("params", "layer", "d_model=64", "heads=4", "d_k=16", "d_ff=120", "--claim", "27648").exit_code == 0
