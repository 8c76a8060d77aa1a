"""`evaluate` on numbers, several classes, pairs and embeddings: figures by hand, intervals, the worst rows, one-line mistakes."""

import math

import numpy as np
import pytest
from tiny_training import OPINIONS, Quiet, opinion_run

import glassformer as gf
from glassformer.encoding.scores import bootstrap
from glassformer.errors import GlassformerError
from glassformer.training import loop
from glassformer.training.data import load_data


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of each task, trained once."""
    folder, done = tmp_path_factory.mktemp("runs"), {}

    def run(task):
        if task not in done:
            made, data = opinion_run(folder / task, task, epochs=4, lr=1e-2)
            done[task] = made, data, loop.train(made, data, Quiet())
        return done[task]

    return run


def evaluated(trained, task, **options):
    run, _, _ = trained(task)
    name, reading = OPINIONS[task]
    return gf.evaluate(run.path, run.path.parent / name, **reading, **options)


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("regress", {"pearson": "pearson", "spearman": "spearman"}),
        ("similarity", {"pearson": "pearson"}),
        ("multilabel", {"micro-F1": "micro_f1", "macro-F1": "macro_f1"}),
        ("embed", {"MRR@10": "mrr_at_10"}),
    ],
)
def test_the_figures_are_those_of_the_end_of_training_with_intervals(trained, task, names):
    found, told = evaluated(trained, task), trained(task)[2]["test"]
    for name, recorded in names.items():
        one = found.figures[name]
        assert one.value == pytest.approx(told[recorded], abs=0.01)
        assert one.low <= one.value + 1e-9 and one.value - 1e-9 <= one.high and one.high - one.low < 1.5
    assert found.rows == 20 and found.task == task
    assert all(name in str(found) for name in found.figures)
    assert found.to_dict()["figures"].keys() == found.figures.keys()


@pytest.mark.parametrize("task", OPINIONS)
def test_every_folder_that_training_writes_is_verified_and_opened(trained, task):
    run, data, _ = trained(task)
    assert all(gf.verify(run.path / name, original=False).holds for name in ("best", "last"))
    model, rows = gf.load(run.path / "last"), list(data.test.inputs)
    if task == "embed":
        assert model.encode([row[0] for row in rows]).shape == (20, 16)
    else:
        told = [one.to_dict() for one in model.predict(rows)]
        assert {"regress": {"scores"}, "similarity": {"scores"}, "multilabel": {"labels", "probabilities"}}.get(
            task, {"label", "probability", "probabilities"}
        ) == set(told[0])


def test_errors_of_numbers_are_the_mean_over_rows(trained):
    found, data = evaluated(trained, "regress", part="all", worst=3), trained("regress")[1]
    assert found.rows == 200
    model = gf.load(trained("regress")[0].path)
    off = np.concatenate(
        [
            np.array([one.probability for one in model.predict(list(split.inputs))]) - np.asarray(split.targets)
            for split in map(data.part, data.parts)
        ]
    )
    assert found.figures["mean absolute error"].value == pytest.approx(np.abs(off).mean(), abs=1e-6)
    assert found.figures["root mean squared error"].value == pytest.approx(math.sqrt((off**2).mean()), abs=1e-6)
    assert [one.off for one in found.worst] == pytest.approx(sorted(np.abs(off), reverse=True)[:3], abs=1e-6)


def test_pairs_are_evaluated_as_any_classifier(trained):
    found = evaluated(trained, "pair")
    assert found.accuracy.value == pytest.approx(trained("pair")[2]["test"]["accuracy"])
    assert all(" / " in one.text for one in found.mistakes)


def test_the_worst_rows_of_embeddings_name_what_was_found_instead(trained):
    run, data, _ = trained("embed")
    name, reading = OPINIONS["embed"]
    found = gf.evaluate(run.path, run.path.parent / name, **reading, part="all", worst=200)
    wrong = 1 - found.figures["recall@1"].value
    assert len(found.worst) == round(wrong * found.rows)
    assert all(one.off > 1 and one.predicted != one.true for one in found.worst)
    assert {(one.text, one.true) for one in found.worst} <= {row for part in data.parts for row in data.part(part).inputs}


@pytest.mark.parametrize(("task", "other"), [("regress", "multilabel"), ("multilabel", "regress"), ("regress", "pair")])
def test_a_model_of_another_task_is_refused_in_one_line(trained, task, other):
    run, (name, reading) = trained(other)[0], OPINIONS[task]
    with pytest.raises(GlassformerError, match=r"which .* does not predict: evaluate a model that does\.$"):
        gf.evaluate(run.path, run.path.parent / name, **reading)


def test_an_interval_covers_a_known_mean_as_often_as_it_says():
    draw, covered = np.random.default_rng(0), 0
    for _ in range(60):
        values = draw.normal(size=50)
        one = bootstrap({"mean": lambda rows, values=values: float(values[rows].mean())}, 50)["mean"]
        covered += one.low <= 0 <= one.high
    assert covered >= 52


def test_the_data_of_a_run_is_read_as_it_was(trained):
    run, data, _ = trained("similarity")
    assert load_data(**run.about["data"]["source"]).fingerprint == data.fingerprint
