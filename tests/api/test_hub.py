"""Models are downloaded from the hub by one function and one option, and never without them; the hub is a fake here."""

import sys
from types import ModuleType

import pytest
from checkpoint_files import add_tokenizer, bert_folder
from command_line import glassformer as command

import glassformer as gf
from glassformer.errors import GlassformerError

ROWS = "text,label\n" + "".join(f"{word} {word} number {i},{word}\n" for i in range(40) for word in ("wall", "glass"))


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A fake huggingface_hub with one model; returns the requested names, with the requested files."""
    asked = []
    (tmp_path / "cache").mkdir()
    folder = add_tokenizer(bert_folder(tmp_path / "cache"))

    def snapshot_download(name, **how):
        asked.append((name, how))
        if name != "someone/little-bert":
            raise OSError(f"404: {name} was not found\nand a second line")
        return str(folder)

    module = ModuleType("huggingface_hub")
    module.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return asked


def test_a_model_is_fetched_when_that_is_requested(hub):
    folder = gf.download("someone/little-bert", revision="main")
    assert gf.load(folder).spec.layers >= 1
    ((name, how),) = hub
    assert name == "someone/little-bert" and how["revision"] == "main"
    assert "*.safetensors" in how["allow_patterns"] and not any("bin" in one or "py" in one for one in how["allow_patterns"])


@pytest.mark.parametrize("words", [("encode", "--text", "wall"), ("verify", "--no-original")])
def test_the_commands_fetch_it_with_the_option(hub, words):
    name, *rest = words
    done = command(name, "someone/little-bert", "--download", *rest)
    assert done.returncode == 0, done.stderr
    assert [asked for asked, _ in hub] == ["someone/little-bert"]


def test_nothing_is_fetched_without_the_option_and_the_message_names_it(hub, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text(ROWS, encoding="utf-8")
    for words in (("encode", "someone/little-bert", "--text", "wall"), ("train", rows, "google-bert/bert-base-uncased")):
        done = command(*words)
        assert done.returncode == 2 and "--download" in done.stderr and done.stderr.count("\n") == 1
    assert hub == []


def test_training_starts_from_a_fetched_model(hub, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text(ROWS, encoding="utf-8")
    done = command(
        "train", rows, "someone/little-bert", "--download", "--epochs", 1, "--max-length", 8, "--out", tmp_path / "run"
    )
    assert done.returncode == 0, done.stderr
    assert [asked for asked, _ in hub] == ["someone/little-bert"]
    assert gf.load(tmp_path / "run").labels == ["glass", "wall"]


def test_a_folder_that_is_here_is_not_fetched(hub, tmp_path):
    assert command("encode", tmp_path / "cache", "--download", "--text", "wall").returncode == 0
    assert hub == []


def test_a_failed_download_is_a_one_line_error(hub, monkeypatch):
    with pytest.raises(GlassformerError, match=r"^'someone/other' cannot be downloaded: 404: someone/other was not found$"):
        gf.download("someone/other")
    for name in ("../secret", "a/b/c", "", "https://example.org/model"):
        with pytest.raises(GlassformerError, match="is not the name of a model on the hub: write owner/name, or name"):
            gf.download(name)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(GlassformerError, match=r"^--download needs the package huggingface_hub: pip install"):
        gf.download("someone/little-bert")
