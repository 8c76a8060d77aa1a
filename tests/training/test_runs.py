"""The run folder."""

import json

import pytest
from tiny_training import tiny_run

from glassformer.errors import GlassformerError
from glassformer.model import Encoder, load
from glassformer.training.runs import Run, differences, next_name


def test_a_folder_gives_the_run_back(tmp_path):
    run, _ = tiny_run(tmp_path / "run", "lid-words", vocab=300)
    again = Run.open(tmp_path / "run")
    assert (again.spec, again.settings, again.identity()) == (run.spec, run.settings, run.identity())


@pytest.mark.parametrize("context", ["word", "row"])
def test_an_exported_model_records_the_context_of_words(tmp_path, context):
    run, rows = tiny_run(tmp_path / "run", "lid-words", vocab=300, context=context)
    run.export("best", Encoder(run.spec), rows.labels)
    tokens = [one.token for one in load(tmp_path / "run" / "best").predict("din pahle")]
    assert ("[CLS]" in tokens) == (context == "row")


def test_a_folder_of_a_newer_version_is_refused(tmp_path):
    run, _ = tiny_run(tmp_path / "run")
    (run.path / "run.json").write_text(json.dumps(run.about | {"format": 2}), encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"newer version of glassformer \(format 2; this version reads up to 1\)"):
        Run.open(run.path)


def test_a_folder_that_is_not_a_run_is_refused(tmp_path):
    with pytest.raises(GlassformerError, match=r"is not a run folder: it has no run\.json"):
        Run.open(tmp_path)


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(GlassformerError, match="is not empty: choose another"):
        tiny_run(tmp_path)


def test_two_processes_cannot_work_on_one_run(tmp_path):
    run, _ = tiny_run(tmp_path / "run")
    with run.locked(), pytest.raises(GlassformerError, match=r"is being trained by process \d+: wait"), run.locked():
        pass
    with run.locked():
        pass


def test_the_log_is_truncated_to_the_state(tmp_path):
    run, _ = tiny_run(tmp_path / "run")
    with run.log(0, (), None) as log:
        log.line(step=1)
        size = log.offset()
        log.line(step=2)
    with run.log(size, (), None) as log:
        log.line(step=3)
    assert run.metrics.read_text(encoding="utf-8") == '{"step": 1}\n{"step": 3}\n'


def test_settings_that_change_are_written_down(tmp_path):
    run, _ = tiny_run(tmp_path / "run")
    assert run.with_settings(lr=0.5).settings.lr == Run.open(run.path).settings.lr == 0.5
    with pytest.raises(GlassformerError, match=r"epochs=0 is not allowed: a whole number from 1\."):
        run.with_settings(epochs=0)


def test_the_command_to_resume_can_be_pasted(tmp_path):
    run, _ = tiny_run(tmp_path / "my run")
    assert run.resume_command == f"glassformer resume '{tmp_path}/my run'"


def test_names_and_differences(tmp_path):
    (tmp_path / "topic-1").mkdir()
    assert next_name("topic", tmp_path).name == "topic-2"
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == ["b was 2 and is 3 now", "c was None and is 4 now"]
