"""`glassformer report` and the tour's end, as a person uses them."""

import json
import shutil
import subprocess
import sys

import pytest
from checkpoint_files import bert_folder
from command_line import glassformer

from glassformer.cli.tour import FILES, RUN, STOPS, TRANSLATOR
from glassformer.lab.pages.trace_models import HOME


def test_a_spec_becomes_a_page_named_after_it(tmp_path):
    done = glassformer("report", "bert-tiny", "layers=3", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("report: bert-tiny-layers=3-report.html (")
    assert done.stdout.endswith("kB; encoder, ledger, shapes, cost, equations)\n")
    assert "<h1>bert-tiny layers=3</h1>" in (tmp_path / "bert-tiny-layers=3-report.html").read_text(encoding="utf-8")


def test_a_text_shows_the_attention_of_made_up_weights(tmp_path):
    words = ("report", "layer", "d_model=8", "heads=2", "--text", "Tom <b>a</b> été", "--without", "shapes,cost", "--json")
    done = glassformer(*words, "--out", "a.html", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["report"] == "a.html"
    assert found["sections"] == ["encoder", "ledger", "equations", "attention", "checks"]
    assert found["bytes"] == (tmp_path / "a.html").stat().st_size
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "The weights are random, from a seed" in text and "<b>a</b>" not in text


def test_no_torch_is_needed_for_a_spec(tmp_path):
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'matplotlib'): raise AssertionError(name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "sys.argv = ['glassformer', 'report', 'layer', '--text', 'a b', '--out', 'a.html']\n"
        "import runpy; runpy.run_module('glassformer', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_checkpoint_without_a_tokenizer_is_verified_and_the_missing_file_is_named(tmp_path):
    bert_folder(tmp_path / "bert")
    done = glassformer("report", "bert", "--out", "a.html", "--without", "shapes,equations", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("attention is not shown: ")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "exact: " in text and "model in float64, float64 run" in text
    assert "✗" not in text and " parameters, each with the expected name and shape" in text


def test_a_run_has_its_training_first(tmp_path):
    small = "d_model=16 heads=2 layers=1 --batch-size 128 --epochs 2 --out run".split()
    assert glassformer("train", "digits", *small, cwd=tmp_path).returncode == 0
    done = glassformer("report", "run", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("kB; training, encoder, ledger, shapes, cost, equations, attention, why, checks)\n")
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Data: digits in 10 classes" in text and "the first test image" in text and "✗" not in text
    assert glassformer("report", "run", cwd=tmp_path).returncode == 0  # once more, over the first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report"], "no spec is given"),
        (["report", "bert-bas"], "unknown preset 'bert-bas'. Did you mean 'bert-base'?"),
        (
            ["report", "layer", "--without", "nonsense"],
            "--without nonsense is not a part of a report. Parts: training, encoder, ledger",
        ),
        (["report", "layer", "heads=7"], "heads=7 does not divide d_model=512"),
        (["report", "bert", "layers=3"], "layers=3 cannot be changed in a report of bert: it has weights."),
        (["report", "bert", "--text", "a"], "tokenizer"),
        (["report", "vit-ti16", "--text", "a"], "this encoder reads images, not text: leave --text out."),
        (["report", "layer", "--text", " "], "the text is empty"),
        (["report", "layer", "--out", "mine.txt"], "mine.txt exists and is not a report: choose another --out."),
        (["report", "layer", "--out", "bert"], "bert is a folder"),
        (["report", "layer", "--out", "r.pdf"], "r.pdf: a report is HTML: its name must end in .html."),
    ],
)
def test_a_mistake_is_one_line(words, message, tmp_path):
    bert_folder(tmp_path / "bert")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = glassformer(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_the_tour_replaces_what_a_tour_left_and_nothing_else(tmp_path):
    from glassformer.cli.tour import _empty
    from glassformer.errors import GlassformerError

    folder = tmp_path / "tour"
    assert _empty(folder) == folder
    for name in FILES:
        (folder / name).write_text("old", encoding="utf-8")
    (folder / RUN).mkdir()
    (folder / RUN / "run.json").write_text("{}", encoding="utf-8")
    shutil.copytree(HOME / TRANSLATOR, folder / TRANSLATOR)
    _empty(folder)
    assert list(folder.iterdir()) == []
    (folder / "report.html").write_text("old", encoding="utf-8")
    (folder / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"holds 'thesis\.tex', which was not written by a tour"):
        _empty(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "thesis.tex"]
    (folder / "thesis.tex").unlink()
    shutil.copytree(HOME / TRANSLATOR, folder / TRANSLATOR)
    (folder / TRANSLATOR / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(GlassformerError, match=f"holds '{TRANSLATOR}'"):
        _empty(folder)
    shutil.rmtree(folder / TRANSLATOR)
    (folder / RUN).symlink_to(tmp_path)
    with pytest.raises(GlassformerError, match=f"holds '{RUN}'"):
        _empty(folder)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(GlassformerError, match="cannot be written"):
        _empty(tmp_path / "file")


def test_the_tour_ends_with_training_and_its_report():
    assert [stop.line.split()[0] for stop in STOPS[-2:]] == ["train", "report"]
    assert {word.split("/")[1] for stop in STOPS for word in stop.line.split() if word.startswith("{folder}/")} == {
        *FILES,
        RUN,
        TRANSLATOR,
    }
