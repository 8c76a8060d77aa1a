"""`glassformer attention`, as a person uses it."""

import json
import pickle

import numpy as np
import pytest
from checkpoint_files import bert_folder
from command_line import glassformer

import glassformer as gf

SENTENCE = "Tom a été entarté cet été"


def test_attention_prints_a_grid_and_gives_json():
    words = ("attention", "layer", "d_model=16", "--text", SENTENCE, "--seed", "3", "--head", "1")
    assert glassformer(*words).stdout.startswith("layer 0, head 1: each row is a query")
    document = json.loads(glassformer(*words, "--json").stdout)
    assert document["words"] == SENTENCE.split()
    assert abs(sum(document["weights"][0][0][2]) - 1) < 1e-12


def test_minus_one_is_the_last_and_the_help_says_so():
    assert glassformer("attention", "--help").stdout.count("from 0; -1 is the last.") == 2
    told = glassformer("attention", "layer", "d_model=16", "heads=4", "--text", SENTENCE, "--layer", "-1", "--head", "-1").stdout
    assert told.startswith("layer 0, head 3: ")


@pytest.mark.parametrize("form", ["png", "svg", "html"])
def test_attention_writes_files(form, tmp_path):
    done = glassformer("attention", "layer", "d_model=16", "--text", SENTENCE, "--out", f"a.{form}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"layer 0, 8 heads, 6 tokens: a.{form}\n"
    assert (tmp_path / f"a.{form}").stat().st_size > 1000


def test_a_checkpoint_is_run_on_token_ids(tmp_path):
    folder = bert_folder(tmp_path / "bert")
    document = json.loads(glassformer("attention", str(folder), "--tokens", "1,2,3", "--layer", "0", "--json").stdout)
    assert (document["layers"], len(document["words"])) == ([0], 3)
    assert abs(sum(document["weights"][0][0][1]) - 1) < 1e-12


def test_a_checkpoint_is_run_on_frames_of_sound(tmp_path):
    spec = gf.spec("layer", mels=5, positions=4, position="sinusoidal_stored", d_model=16, heads=2, d_ff=24)
    gf.save(gf.Encoder(spec), tmp_path / "sound")
    np.save(tmp_path / "a.npy", np.ones((5, 8), "float32"))
    np.save(tmp_path / "words.npy", np.array(["a"]))
    (tmp_path / "pickled.npy").write_bytes(pickle.dumps([1]))
    words = ("attention", "sound", "--layer", "0", "--json", "--frames")
    assert len(json.loads(glassformer(*words, "a.npy", cwd=tmp_path).stdout)["words"]) == 4
    for name, told in (
        ("words.npy", "--frames words.npy has shape [1] and type <U1; expected numbers [mel, frame]."),
        ("pickled.npy", "pickled.npy is not an array of numbers: it is not an .npy file as written by numpy.save."),
        ("b.npy", "no such file or folder: b.npy"),
    ):
        done = glassformer(*words, name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"glassformer: {told}")


def test_a_checkpoint_reads_text_with_its_own_tokenizer(tmp_path, minilm):
    done = glassformer("attention", str(minilm), "--text", "time flies", "--layer", "3", "--out", "a.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "layer 3, 12 heads, 4 tokens: a.html\n"
    assert "<bdi>[CLS]</bdi> <bdi>time</bdi> <bdi>flies</bdi> <bdi>[SEP]</bdi>" in (tmp_path / "a.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("attention", "no spec is given"),
        ("attention layer --text a --out a.pdf", "the name must end in one of .png, .svg, .html."),
        ("attention layer --text a --layer 9", "this run has layer 0 to 0, or -1 to -1 counted from the end."),
        ("attention encoder t=512 --json", "weights are too many for JSON: choose --layer and --head"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(line, message):
    done = glassformer(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
