"""Each recipe, on its small setting, stays within the band that it states, and leaves what it promises."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUICK, LONG = (
    ("epochs",),
    (
        "attention_as_answer",
        "heads_and_depth",
        "transformer_vs_cnn",
        "variable_length",
        "sentence_embeddings",
        "translate",
        "number_words",
    ),
)


def cooked(name: str, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "recipes" / f"{name}.py"), "--small", "--out", str(out), *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, timeout=600)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A recipe's folder, its results and what it printed; each recipe runs once."""
    done = {}

    def run(name: str):
        if name not in done:
            out = tmp_path_factory.mktemp(name)
            finished = cooked(name, out)
            assert (finished.returncode, "Traceback" in finished.stderr) == (0, False), finished.stdout + finished.stderr
            done[name] = out, json.loads((out / "results.json").read_text(encoding="utf-8")), finished.stdout
        return done[name]

    return run


@pytest.fixture
def recipe_modules(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "recipes"))


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_a_recipe_keeps_its_band_and_saves_its_curves(small, name):
    out, results, printed = small(name)
    assert results["bands"]
    assert all(band["kept"] for band in results["bands"])
    assert "MISSED" not in printed
    assert (out / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "curves.svg").read_text(encoding="utf-8")


def test_more_epochs_learn_the_training_rows_better(small):
    out, results, printed = small("epochs")
    losses = [run["train_loss"] for run in results["runs"]]
    assert losses == sorted(losses, reverse=True)
    assert [run["epochs"] for run in results["runs"]] == [1, 3, 6]
    assert (out / "epochs-6" / "best" / "model.safetensors").is_file()
    assert "loss turned at" in printed


@pytest.mark.slow
def test_the_cnn_falls_to_chance_beyond_its_field_and_the_transformer_does_not(small):
    _, results, _ = small("transformer_vs_cnn")
    found = results["far_apart"]
    transformer, plain, dilated = found["models"].values()
    assert plain["field"] == 1 + 4 * (3 - 1) == found["reach"] + 1
    beyond = [away for away in plain["accuracy"] if int(away) > found["reach"]]
    assert len(beyond) >= 4
    assert all(0.4 < plain["accuracy"][away] < 0.6 for away in beyond)
    assert min(transformer["accuracy"].values()) > 0.9
    assert min(dilated["accuracy"].values()) > 0.9
    for models in (found["models"], results["images"]["models"]):
        counts = [model["parameters"] for model in models.values()]
        assert max(counts) <= 1.02 * counts[0]
        assert min(counts) >= 0.98 * counts[0]


@pytest.mark.slow
def test_padded_bucketed_and_packed_texts_get_the_same_class(small):
    _, results, _ = small("variable_length")
    assert set(results["agreement"]) == {"padded", "in buckets of like length", "packed"}
    assert all(one["same"] == 1 and one["difference"] < 1e-4 for one in results["agreement"].values())


@pytest.mark.slow
def test_positions_that_were_never_trained_do_not_help(small):
    _, results, _ = small("variable_length")
    *_, trained, _, longest = results["accuracy"]["order"]["learned"]
    assert trained > 0.85
    assert longest < trained - 0.1


@pytest.mark.slow
def test_the_largest_weight_is_the_answer_for_names_and_verbs_never_seen(small):
    _, results, _ = small("attention_as_answer")
    for group in ("new names", "new verbs", "new names and verbs"):
        assert min(results["scores"][group][kind] for kind in ("who", "what", "when")) >= 0.9
    assert [one["largest"] for one in results["tom"]] == ["Tom (0)", "entarté (3)", "été (5)"]


@pytest.mark.slow
def test_the_trained_attention_opens_in_the_command_line_and_is_small(small):
    out, results, _ = small("attention_as_answer")
    model = out / "model"
    assert sum(file.stat().st_size for file in model.iterdir()) < 300_000
    text = "Tom a été entarté cet été. What happened to Tom?"
    command = [sys.executable, "-m", "glassformer", "attention", str(model), "--text", text, "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=120).stdout)
    row = found["weights"][0][0][found["words"].index("What")]
    assert found["words"][row.index(max(row))] == "entarté"
    assert row == pytest.approx(results["tom"][1]["weights"], abs=1e-12)


def test_no_word_that_is_kept_for_the_test_is_shown_in_training(recipe_modules):
    import random

    import french

    chance = random.Random(0)
    shown = " ".join(french.ask(french.SEEN, chance, kind).text for kind in ("who", "what", "when", "where") for _ in range(500))
    words = set(shown.replace(".", " ").replace(",", " ").replace("?", " ").split())
    kept = {*french.UNSEEN.men, *french.UNSEEN.women, *french.UNSEEN.verbs, *french.UNSEEN.active}
    assert "Tom" in kept
    assert "entarté" in kept
    assert words & (kept | {f"{verb}e" for verb in french.UNSEEN.verbs}) == set()


def test_a_question_points_at_its_answer(recipe_modules):
    import random

    import french

    words = french.Words(("Tom",), ("Tom",), ("entarté",), ("entarté",), ("cet été",), ("à Paris",))
    for kind, answer in {"who": "Tom", "what": "entarté", "when": "cet été", "where": "à Paris"}.items():
        for seed in range(30):
            one = french.ask(words, random.Random(seed), kind)
            said = one.text[: one.answer_at + 1].lower().removesuffix("e" if kind == "what" else "")
            assert said.endswith(answer.lower())
            assert one.text[one.question_at :].lower().startswith(kind)
            assert one.kind == kind


def test_the_held_out_questions_are_of_the_kind_they_are_counted_as(recipe_modules):
    import random

    import attention_as_answer

    for group in attention_as_answer.held_out(set(), random.Random(0), 5).values():
        assert {kind: {one.kind for one in asked} for kind, asked in group.items()} == {kind: {kind} for kind in group}


def test_a_band_that_is_missed_is_exit_1(recipe_modules, tmp_path, capsys):
    from recipe import Recipe

    recipe = Recipe("made_up", tmp_path, small=True, seed=0)
    recipe.band("accuracy", 0.97, 0.95)
    assert recipe.end({}) == 0
    recipe.band("accuracy", 0.90, 0.95)
    recipe.band("nothing", float("nan"), 0.0)
    assert recipe.end({}) == 1
    assert capsys.readouterr().out.count("MISSED") == 2


def test_a_folder_that_no_recipe_left_is_not_removed(recipe_modules, tmp_path):
    from recipe import Recipe

    from glassformer import GlassformerError

    recipe = Recipe("made_up", tmp_path, small=True, seed=0)
    (tmp_path / "model").mkdir()
    with pytest.raises(GlassformerError, match="is there already, and no earlier run of made_up left it"):
        recipe.fresh("model")
    recipe.end({})
    assert not recipe.fresh("model").exists()


def test_an_invalid_seed_is_a_one_line_error(tmp_path):
    done = cooked("epochs", tmp_path, "--seed", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "epochs: --seed -1 is not allowed: a whole number from 0.\n"


@pytest.mark.slow
def test_the_same_command_gives_the_same_weights_bit_for_bit(small, tmp_path):
    out, _, _ = small("attention_as_answer")
    assert cooked("attention_as_answer", tmp_path).returncode == 0
    for name in ("model.safetensors", "tokenizer.json", "spec.json"):
        first, second = (hashlib.sha256((folder / "model" / name).read_bytes()).hexdigest() for folder in (out, tmp_path))
        assert first == second


@pytest.mark.slow
def test_training_finds_translations_that_random_weights_do_not(small):
    out, results, printed = small("sentence_embeddings")
    before, after = (results[when]["MRR@10"] for when in ("before", "after"))
    assert before["high"] < after["low"]
    assert (out / "run" / "best" / "modules.json").is_file()
    assert "random weights" in printed
