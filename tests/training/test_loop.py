"""The loop: it learns, it stops where it should, and a kill at any step changes no bit of what comes out."""

import math

import pytest
import torch
from tiny_training import Quiet, logged, losses, tiny_run

from glassformer.errors import GlassformerError
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.show.curves import save_pictures
from glassformer.training import loop, state
from glassformer.training.runs import Run
from glassformer.training.saving import check_same_run
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.task import Judged


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing disturbed."""
    run, data = tiny_run(tmp_path_factory.mktemp("runs") / "whole")
    torch.set_num_threads(1)
    figures = loop.train(run, data, Quiet())
    return run, data, figures


def test_a_run_learns_and_its_folder_is_complete(whole):
    run, _, figures = whole
    first, last = logged(run, "epoch")
    assert last["train"]["loss"] < first["train"]["loss"] < 2.31
    assert len(logged(run)) == 20 == figures["step"]
    names = {path.name for path in run.path.iterdir()}
    assert names >= {"run.json", "spec.json", "settings.json", "metrics.jsonl", "best", "last", "report.md"}
    assert load_encoder(run.path / "best").encoder.spec == run.spec


def test_a_run_draws_its_curves(whole, monkeypatch):
    run, _, _ = whole
    monkeypatch.setattr("glassformer.show.curves.save_pictures", save_pictures)
    run.draw_curves()
    assert (run.path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (run.path / "curves.svg").read_text(encoding="utf-8")


def test_accumulated_batches_are_one_large_batch(tmp_path):
    one, data = tiny_run(tmp_path / "one", fields={"dropout": 0.0}, epochs=1, batch_size=128)
    two, _ = tiny_run(tmp_path / "two", fields={"dropout": 0.0}, epochs=1, batch_size=64, accumulate=2)
    for run in (one, two):
        loop.train(run, data, Quiet())
    assert len(logged(one)) == len(logged(two)) == 10
    # The rows of a step are others, but a step has as many of them.
    assert [line["lr"] for line in logged(one)] == [line["lr"] for line in logged(two)]
    assert abs(logged(one, "epoch")[0]["train"]["loss"] - logged(two, "epoch")[0]["train"]["loss"]) < 0.05


def test_a_nan_loss_stops_before_the_update(tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run")
    made, calls = loop.training_judge, []
    real = made(TASKS["image"], data, run.settings)

    def judge(encoder, batch):
        calls.append(batch.ids)
        judged = real(encoder, batch)
        return Judged(judged.loss * math.nan, judged.right) if len(calls) == 5 else judged

    monkeypatch.setattr(loop, "training_judge", lambda *_: judge)
    with pytest.raises(loop.NotFinite, match=r"step 5: loss is nan\. .*Last good checkpoint: step 3\. Nothing was") as stopped:
        loop.train(run, data, Quiet())
    assert f"Training rows of the batch: {', '.join(map(str, calls[4][:8]))}, …" in str(stopped.value)
    monkeypatch.setattr(loop, "training_judge", made)
    assert loop.train(Run.open(run.path).with_settings(lr=1e-4), data, Quiet())["step"] == 20


def test_patience_ends_a_run_early(tmp_path):
    run, data = tiny_run(tmp_path / "run", epochs=30, lr=0.0, patience=2)
    figures = loop.train(run, data, Quiet())
    assert (figures["epochs"], figures["best"]["epoch"]) == (3, 1)


def test_the_best_epoch_is_kept_as_weights_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "better", lambda *found, **_: found[-1] is None)  # the first epoch is the best
    run, data = tiny_run(tmp_path / "run", epochs=4)
    figures = loop.train(run, data, Quiet())
    best = figures["best"]["step"]
    assert best < min(state.saved_steps(run.checkpoints)) and state.saved_steps(run.best_weights) == [best]
    saved = state.load_state(run.best_weights, best).tensors
    assert all(name.startswith("weights/") for name in saved)
    exported, last = (load_encoder(run.path / name).encoder.state_dict() for name in ("best", "last"))
    assert all(torch.equal(exported[name.removeprefix("weights/")], value) for name, value in saved.items())
    assert not all(torch.equal(last[name.removeprefix("weights/")], value) for name, value in saved.items())


@pytest.mark.parametrize("failing", ["disk full", "killed"])
def test_without_its_weights_apart_the_best_is_kept_as_a_state(tmp_path, monkeypatch, failing):
    monkeypatch.setattr(loop, "better", lambda *found, **_: found[-1] is None)
    run, data = tiny_run(tmp_path / "run", epochs=4)
    real = state.save_state

    def save(folder, saved):
        if folder == run.best_weights:
            raise state.CannotSave("disk full") if failing == "disk full" else KeyboardInterrupt
        return real(folder, saved)

    monkeypatch.setattr(state, "save_state", save)
    if failing == "killed":
        with pytest.raises(KeyboardInterrupt):
            loop.train(run, data, Quiet())
    best = loop.train(run, data, Quiet())["best"]["step"]
    assert best in state.saved_steps(run.checkpoints) and not state.saved_steps(run.best_weights)
    assert load_encoder(run.path / "best").encoder.spec == run.spec


def test_a_damaged_checkpoint_is_passed_over_with_one_line(whole, tmp_path):
    run, data = tiny_run(tmp_path / "run")

    def stop(number):
        if number == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.train(run, data, Quiet(stop))
    newest = run.checkpoints / "step-000006" / state.TENSORS
    content = bytearray(newest.read_bytes())
    content[-1] ^= 1
    newest.write_bytes(content)
    watch = Quiet()
    loop.train(run, data, watch)
    assert watch.said == [
        "step-000006 is damaged (the sha256 of state.safetensors does not match the manifest), using step-000003.",
        "resuming after step 3 of 20.",
    ]
    assert losses(run) == losses(whole[0])


def test_a_run_of_before_a_setting_existed_is_resumed(whole):
    now = whole[0].identity()
    older = now | {"settings": {name: value for name, value in now["settings"].items() if name != "hidden"}}
    check_same_run(older, now)
    with pytest.raises(GlassformerError, match=r"^cannot resume, the run was changed: hidden was 0\.2 and is 0\.5 now\.$"):
        check_same_run(older, now | {"settings": now["settings"] | {"hidden": 0.5}})


def test_resume_names_what_was_changed(whole, tmp_path):
    run, data, _ = whole
    changed = Run(run.path, run.spec.replace(layers=2), run.settings.replace(seed=1, lr=1.0), None, run.about)
    message = r"cannot resume, the run was changed: layers was 1 and is 2 now; seed was 0 and is 1 now\.$"
    with pytest.raises(GlassformerError, match=message):
        loop.train(changed, data, Quiet())
    about = run.about | {"data": run.about["data"] | {"rows": {"train": 1}, "fingerprint": "0"}}
    with pytest.raises(
        GlassformerError, match=r"the data has changed: rows was \{'train': 1\} and is \{'train': 1252, .*fingerprint"
    ):
        loop.train(Run(run.path, run.spec, run.settings, None, about), data, Quiet())


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_run_of_token_budgets_stopped_in_an_epoch_resumes_bit_for_bit(accumulate, tmp_path):
    settings = {"batch_tokens": 600, "accumulate": accumulate, "vocab": 300, "max_length": 48, "save_every": 2}
    runs = [tiny_run(tmp_path / name, "lid-words", **settings) for name in ("whole", "stopped")]
    (whole, data), (stopped, _) = runs
    watch = Quiet()
    loop.train(whole, data, watch)
    steps = logged(whole)
    assert steps[-1]["step"] == len(steps) == watch.total

    def stop(step):
        if step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.train(stopped, data, Quiet(stop))
    assert state.saved_steps(stopped.checkpoints)[0] == 4
    loop.train(Run.open(stopped.path), data, Quiet())
    assert losses(stopped) == losses(whole)


def test_a_token_budget_below_the_longest_text_is_refused(tmp_path):
    run, data = tiny_run(tmp_path / "run", "lid-words", batch_tokens=8, vocab=300, max_length=48)
    with pytest.raises(GlassformerError, match=r"batch_tokens=8 is less than the longest row \(\d+ tokens\)\. Give more, or"):
        loop.train(run, data, Quiet())


def test_texts_that_are_cut_are_counted_and_a_head_may_have_outputs_to_spare(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\n" + "".join(f"{'word ' * (3 + 40 * (n % 2))}{n},{'ab'[n % 2]}\n" for n in range(40)))
    run, data = tiny_run(tmp_path / "run", data=path, fields={"classes": 7}, epochs=1, max_length=16)
    watch = Quiet()
    figures = loop.train(run, data, watch)
    assert "note: 16 of 32 training texts are truncated to 16 tokens. --max-length raises the limit." in watch.said
    assert [len(row) for row in figures["test"]["confusion"]] == [2, 2]


@pytest.mark.parametrize("data", ["lid-words", "mlm"])
def test_tokens_are_tagged_and_guessed(data, tmp_path):
    if data == "mlm":
        data = tmp_path / "plain.txt"
        data.write_text("".join(f"the number {i} comes after the number {i - 1}\n" for i in range(400)), encoding="utf-8")
    run, rows = tiny_run(tmp_path / "run", data, epochs=1, batch_size=32, vocab=300, max_length=24)
    figures = loop.train(run, rows, Quiet())
    lines = logged(run)
    assert lines[-1]["loss"] < lines[0]["loss"]
    assert 0 < figures["test"]["accuracy"] < 1


@pytest.mark.parametrize(
    ("data", "fields"), [("digits", {}), ("lid-words", {"d_model": 64}), ("lid-words", {"position": "relative"})]
)
def test_equal_runs_give_equal_bits_on_any_device(data, fields, tmp_path):
    """On a GPU too, where attention's backward pass sums in any order unless it is deterministic."""
    runs = [tiny_run(tmp_path / name, data, fields, batch_size=64, vocab=300, max_length=64) for name in ("one", "two")]
    for run, rows in runs:
        loop.train(run, rows, Quiet())
    assert losses(runs[0][0]) == losses(runs[1][0])
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled() != torch.cuda.is_available()


def test_a_step_without_a_kernel_that_gives_equal_bits_ends_in_one_line(tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run")
    worker = loop.current_worker()
    loop.set_determinism(worker, seed=0, equal_bits="no")
    assert not torch.are_deterministic_algorithms_enabled()

    def judge(encoder, batch):
        torch.use_deterministic_algorithms(True)
        return torch.zeros(4).put_(torch.tensor([0, 0]), torch.ones(2), accumulate=False)

    monkeypatch.setattr(loop, "training_judge", lambda *_: judge)
    with pytest.raises(
        GlassformerError, match=r"put_ has no deterministic implementation on this device\. Train with --equal-bits no\.$"
    ):
        loop.train(run, data, Quiet())
