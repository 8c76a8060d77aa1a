"""`gf.train` and `gf.resume`: the words of the command, as arguments."""

import json
import subprocess
import sys

import pytest
import torch
from command_line import glassformer
from tiny_training import losses

import glassformer as gf
from glassformer import GlassformerError
from glassformer.training.settings import FREE, setting_rules

SMALL = {"fields": {"d_model": 16, "heads": 2, "layers": 1}, "batch_size": 128, "log_every": 1, "progress": False}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return gf.train("digits", epochs=2, out=tmp_path_factory.mktemp("runs") / "digits", **SMALL)


def test_a_training_gives_its_folder_its_best_epoch_and_its_metrics(trained):
    lines = [json.loads(line) for line in (trained.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    end = lines[-1]
    assert (end.pop("kind"), end) == ("end", json.loads(json.dumps(trained.metrics)))
    assert trained.best_epoch == end["best"]["epoch"] and trained.accuracy == end["test"]["accuracy"]
    assert (trained.folder / "best").is_dir()
    assert gf.load(trained.folder).spec == trained.run.spec


def test_words_and_fields_make_the_same_run_as_the_command(trained, tmp_path):
    words = "d_model=16 heads=2 layers=1 --batch-size 128 --log-every 1 --epochs 2 --out".split()
    assert glassformer("train", "digits", *words, tmp_path / "command").returncode == 0
    in_words = gf.train("digits", "d_model=16 heads=2 layers=1", epochs=2, out=tmp_path / "words", **SMALL | {"fields": None})
    by_command = gf.resume(tmp_path / "command", progress=False)
    assert losses(in_words.run) == losses(trained.run) == losses(by_command.run)
    for name in ("settings.json", "spec.json", "run.json"):
        assert (tmp_path / "command" / name).read_bytes() == (in_words.folder / name).read_bytes()


def test_a_run_that_is_resumed_is_the_run_that_was_never_stopped(trained, tmp_path):
    whole = gf.train("digits", epochs=2, out=tmp_path / "whole", decay="none", warmup=0.0, **SMALL)
    parts = gf.train("digits", epochs=1, out=tmp_path / "parts", decay="none", warmup=0.0, **SMALL)
    parts = gf.resume(parts.folder, epochs=2, progress=False)
    assert losses(parts.run) == losses(whole.run) != losses(trained.run)


def test_a_finished_run_that_is_resumed_gives_the_same_again(trained):
    again = gf.resume(trained.folder, progress=False)
    assert (again.best_epoch, again.metrics["test"]) == (trained.best_epoch, trained.metrics["test"])


def test_several_numbers_of_epochs_are_runs_side_by_side(tmp_path):
    both = gf.train("digits", epochs=[1, 2], out=tmp_path / "both", **SMALL)
    assert [run.folder.name for run in both.runs] == ["epochs-1", "epochs-2"]
    assert [len(curve.epochs) for curve in both.curves] == [1, 2]
    assert json.loads((both.folder / "comparison.json").read_text(encoding="utf-8")) == both.to_dict()["comparison"]
    assert str(both).endswith(f"compared: {both.folder / 'curves.png'}, comparison.md, comparison.json")


def test_a_list_of_one_number_is_a_folder_of_one_run(tmp_path):
    one = gf.train("digits", epochs=[1], out=tmp_path / "one", **SMALL)
    assert [run.folder for run in one.runs] == [tmp_path / "one" / "epochs-1"]


def test_a_result_shows_its_curves_in_a_notebook(trained):
    page = trained._repr_html_()
    assert page.count("<svg") >= 2 and "digits" in page and "<script" not in page
    assert str(trained).splitlines()[-1] == (
        f"test accuracy {trained.accuracy:.1%} (epoch {trained.best_epoch}, the best); run: {trained.folder}"
    )
    assert repr(trained).startswith(f"Trained('{trained.folder}', best_epoch={trained.best_epoch}, accuracy=0.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epoch": 3}, "unknown setting 'epoch'. Did you mean 'epochs'?"),
        ({"learning_rte": 3}, "unknown setting 'learning_rte'."),
        ({"logto": "json"}, "unknown setting 'logto'. Did you mean 'log_to'?"),
        ({"layers": 3}, "layers=3 is a field of the encoder, not a setting: give fields={'layers': 3}."),
        ({"epochs": 0}, "--epochs 0 is not allowed: a whole number from 1, or several as in 10,30,50."),
        ({"epochs": [5, 5]}, "--epochs 5,5 names 5 twice: each number of epochs is a separate run."),
        ({"lr": "fast"}, "lr=fast is not allowed: a number from 0 to 1,000,000,000."),
        ({"decay": "cosin"}, "decay=cosin is not allowed: one of cosine, linear, none. Did you mean 'cosine'?"),
        ({"progress": "no"}, "progress=no is not allowed: progress must be True or False."),
        ({"model": "bert-tinny"}, "unknown preset 'bert-tinny'. Did you mean 'bert-tiny'?"),
        (
            {"model": "layers=2", "fields": {"layers": 3}},
            "layers is given twice, in the model string and in fields: give it once.",
        ),
        ({"fields": {"batch": 3}}, "batch= is not a field of a trained encoder: write --batch-size 3."),
        ({"train_only": "head"}, "train_only=head needs a checkpoint: give its folder"),
        ({"batch_tokens": 512, "batch_size": 8}, "batch_tokens=512 and batch_size=8 both set the size of a batch: give one."),
        ({"batch_tokens": 512}, "batch_tokens=512 does not apply to images: all have the same length. Give batch_size."),
        ({"batch_tokens": 0}, "batch_tokens=0 is not allowed: a whole number from 1, or none."),
        ({"out": ""}, "out= is not allowed: out must be a path"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing_behind(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlassformerError) as refusal:
        gf.train("digits", **given)
    assert str(refusal.value).startswith(said)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("name", sorted(set(setting_rules()) - set(FREE)))
def test_a_setting_that_a_run_keeps_is_refused_when_it_is_resumed(name, trained):
    with pytest.raises(GlassformerError, match=f"{name} cannot be changed on resume: only epochs, lr, "):
        gf.resume(trained.folder, **{name: setting_rules()[name].default})


def test_a_misspelt_setting_of_resume_is_refused_before_the_folder_changes(trained):
    before = (trained.folder / "settings.json").read_bytes()
    with pytest.raises(GlassformerError, match="unknown setting 'keeep'"):
        gf.resume(trained.folder, keeep=3)
    assert (trained.folder / "settings.json").read_bytes() == before


def test_what_a_run_sets_for_the_process_is_set_back(tmp_path):
    torch.set_num_threads(2)
    try:
        gf.train("digits", epochs=1, out=tmp_path / "run", **SMALL)
        assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == (2, False)
    finally:
        torch.set_num_threads(1)


def test_progress_goes_to_standard_error_unless_it_is_switched_off(tmp_path, capfd):
    gf.train("digits", epochs=1, out=tmp_path / "quiet", **SMALL)
    assert capfd.readouterr() == ("", "")
    gf.train("digits", epochs=1, out=tmp_path / "loud", **SMALL | {"progress": True})
    out, errors = capfd.readouterr()
    assert out == "" and "parameters, all trained" in errors and "epoch 1/1  training loss " in errors


def test_without_torch_one_line_says_what_to_install():
    code = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, NoTorch())
import glassformer as gf
for call in (lambda: gf.train("digits"), lambda: gf.resume("runs/digits-1")):
    try:
        call()
    except gf.GlassformerError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    line = "this needs PyTorch, which is not installed: pip install 'glassformer[torch]'."
    assert (done.stdout.splitlines(), done.stderr) == ([line, line], "")
