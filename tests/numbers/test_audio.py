"""Audio: inputs, errors for invalid inputs, and explanations down to the frames."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from tiny_models import Case, forward, inputs_for, model_of, save

import glassformer as gf
from glassformer.cli.main import glassformer
from glassformer.errors import GlassformerError

WHISPER = Case("whisper", "WhisperEncoder")
SMALL = {"positions": 3, "mels": 2, "d_model": 8, "heads": 2, "d_ff": 8, "layers": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(model_of(WHISPER), tmp_path_factory.mktemp("whisper"))


def test_one_recording_runs_without_a_batch_axis_and_agrees_with_transformers(folder):
    frames = inputs_for(WHISPER, padded=False)["frames"]
    theirs = forward(WHISPER, model_of(WHISPER), {"frames": frames}).last_hidden_state.numpy()
    assert np.abs(gf.run(folder, frames=frames[1])["final_norm"] - theirs[1:]).max() < 1e-10


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": "a wall"}, r"this encoder reads audio: give frames \(--frames FILE\), and no other input\."),
        ({}, "this encoder reads audio"),
        ({"frames": np.zeros((5, 13))}, r"frames has shape \[1, 5, 13\], expected \[1, 5, 14\] \(batch, mel, frame\)"),
        ({"frames": np.zeros(5)}, r"frames must be an array \[mel, frame\], optionally with a batch axis"),
        ({"frames": np.full((5, 14), np.nan)}, r"frames\[0, 0, 0\] is nan: every input must be a finite number"),
    ],
)
def test_invalid_audio_is_refused(folder, given, said):
    with pytest.raises(GlassformerError, match=said):
        gf.run(folder, **given)


def test_frames_need_an_audio_checkpoint(tmp_path):
    with pytest.raises(GlassformerError, match="frames needs a checkpoint that reads audio; the input of a spec without weights"):
        gf.run("whisper-tiny", frames=np.zeros((80, 3000)))
    bert = save(model_of(Case("bert", "BertModel")), tmp_path / "bert")
    with pytest.raises(GlassformerError, match="this model reads text: give either text or tokens"):
        gf.run(bert, frames=np.zeros((5, 14)))
    with pytest.raises(GlassformerError, match="this encoder reads frames, not text"):
        gf.run("whisper-tiny", text="a wall", **SMALL)


def test_a_convolution_is_explained_down_to_frames_and_padding_zeros():
    run = gf.run("whisper-tiny", **SMALL)
    opened = run.explain("embeddings.convolved_1", frame=0, d_conv=3)
    weight, bias, frames = run["embeddings.W_conv1"], run["embeddings.b_conv1"], run["frames"]
    by_hand = bias[3] + sum(weight[mel, 1 + step, 3] * frames[0, mel, step] for mel in range(2) for step in (0, 1))
    assert opened.value == pytest.approx(by_hand, abs=1e-12)
    assert opened.evaluated == pytest.approx(opened.value, abs=1e-12)
    assert run.explain("embeddings.neighbours_1", frame=0, mel=1, kernel=0).numbers() == "0"
    assert run.explain("embeddings.neighbours_2", t=1, d_conv=4, kernel=0).value == run["embeddings.active_1"][0, 1, 4]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("encode {folder} --text hello", "this encoder reads frames, not texts. Call encoder(frames) in Python."),
        ("explain {folder} x t=0 --text hello", "this encoder reads audio: give frames (--frames FILE)"),
        ("report whisper-tiny --text hello", "this encoder reads audio, not text: leave --text out."),
        ("train digits whisper-tiny", "this spec reads audio (mels=80), and training on audio is not supported"),
        ("train digits {folder}", "reads audio, but digits contains images: start from another checkpoint."),
        ("experiment heads mels=4", "mels=4 cannot be set here: the experiment reads words."),
        ("count whisper-tiny n_mels=4", "unknown field 'n_mels'. Did you mean 'mels'?"),
    ],
)
def test_commands_without_audio_input_refuse_it_in_one_line(folder, words, said):
    failed = CliRunner().invoke(glassformer, words.format(folder=folder).split()).exception
    assert isinstance(failed, GlassformerError)
    assert said in str(failed)
    assert "\n" not in str(failed)


@pytest.mark.parametrize(("question", "value"), [("how many tokens", 1500), ("how many parameters", 8_208_384)])
def test_questions_about_audio_encoders(question, value):
    assert gf.ask(question, "whisper-tiny").value == value


def test_audio_has_no_patches():
    with pytest.raises(GlassformerError, match="this model does not take images, so it has no patches"):
        gf.ask("how many patches", "whisper-tiny")


def test_frames_cannot_be_swapped():
    from glassformer.numbers.what_if import swap_tokens

    with pytest.raises(GlassformerError, match="images and audio have none"):
        swap_tokens(gf.run("whisper-tiny", **SMALL), 0, 1)
