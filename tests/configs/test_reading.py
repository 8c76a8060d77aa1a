"""A spec is written the same way everywhere."""

import json

import pytest

import glassformer as gf
from glassformer.configs.reading import request, request_from_words, requests_from_words
from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec


def test_a_preset_with_fields():
    assert gf.spec("bert-base", layers=8, vocab=40_000).layers == 8


def test_words_from_a_command_line():
    asked = request_from_words(["bert-base", "layers=8", "t=512", "batch=2"])
    assert (asked.spec.layers, asked.t, asked.batch, asked.label) == (8, 512, 2, "bert-base layers=8")


def test_a_name_and_its_fields_can_be_one_string():
    assert gf.spec("bert-base layers=8", heads=8) == gf.spec("bert-base", layers=8, heads=8)
    assert request("bert-base  layers=8 t=4").t == 4
    left, right = requests_from_words(["bert-base layers=2", "bert-base", "heads=8"], count=2)
    assert (left.label, right.label) == ("bert-base layers=2", "bert-base heads=8")
    with pytest.raises(GlassformerError, match="layers is given twice, in the string and as an argument"):
        gf.spec("bert-base layers=8", layers=4)


def test_a_file_name_may_contain_spaces_and_equals_signs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine layers=8").write_text('{"layers": 3}')
    assert request("mine layers=8").spec.layers == 3


def test_two_specs_each_with_its_own_fields():
    left, right = requests_from_words(["bert-base", "layers=2", "bert-base", "heads=8"], count=2)
    assert (left.spec.layers, left.spec.heads, right.spec.layers, right.spec.heads) == (2, 12, 12, 8)


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_file_of_fields_with_a_base(tmp_path, suffix):
    path = tmp_path / f"mine.{suffix}"
    path.write_text(
        'base = "bert-base"\nlayers = 4\nt = 7\n' if suffix == "toml" else '{"base": "bert-base", "layers": 4, "t": 7}'
    )
    asked = request(path)
    assert (asked.spec.layers, asked.spec.vocab, asked.t) == (4, 30522, 7)


def test_a_folder_with_a_config(tmp_path):
    (tmp_path / "spec.json").write_text(json.dumps({"layers": 3}))
    assert request(str(tmp_path)).spec.layers == 3


def test_a_spec_or_a_mapping_is_a_spec():
    assert gf.spec(EncoderSpec(layers=2), heads=4) == EncoderSpec(layers=2, heads=4)
    assert gf.spec({"base": "layer", "d_model": 64}).d_model == 64


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mine.json", '{"d_model": 64, "heads": 4, "laiers": 2}', "unknown field 'laiers'. Did you mean 'layers'?"),
        ("mine.toml", "[encoder]\nd_model = 64\n", "unknown field 'encoder'."),
        ("mine.json", '{"d_model": 64, "d_kv": 8, "num_heads": 4}', "model_type is missing"),
    ],
)
def test_a_typing_error_in_our_fields_is_not_taken_for_a_hugging_face_config(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(GlassformerError, match=message.replace("?", r"\?")):
        request(tmp_path / name)


REFUSALS = [
    (["bert-bse"], "unknown preset 'bert-bse'. Did you mean 'bert-base'?"),
    (["bert-base", "layer=8"], "unknown field 'layer'. Did you mean 'layers'?"),
    (["layers=8"], "needs a spec before it"),
    (["bert-base", "bert-large"], "expected one spec, found 'bert-base', 'bert-large'."),
    ([], "expected one spec, found none."),
    (["bert-base", "heads=12", "heads=8"], "heads is given twice, as 12 and as 8: give it once."),
    ([""], "the name of the encoder is empty."),
    (["nowhere/config.json"], "no such file or folder: nowhere/config.json."),
    (["bert-base", "t=0"], "t=0 is not allowed: t must be a whole number from 1 to 1,000,000,000."),
    (["bert-base", "batch=two"], "batch=two is not allowed"),
    (["bert-base", "t=" + "9" * 5000], "is not allowed"),
    (["bert-base", "t=１２"], "t=１２ is not allowed"),
    (["bert-base", "t=1,5"], "t=1,5 is not allowed"),
    (["bert-base", "seq_len=5"], "unknown field 'seq_len'. Did you mean 't'?"),
    (
        ["bert-base", "classes=5"],
        "classes=5 sets the size of a head with classes, and there is none: head=none. Add head=classify, or head=tag.",
    ),
    (["bert-base", "head=mlm", "classes=5"], "classes=5 sets the size of a head with classes, and there is none: head=mlm."),
    (
        ["bert-base", "relative_terms=content_to_position"],
        "relative_terms=content_to_position applies to disentangled attention only: position=learned. Add position=disentangled.",
    ),
    (["bert-base", "position=relative", "relative_norm=true"], "relative_norm=true applies to disentangled attention only"),
    (
        ["encoder", "relative_buckets=8"],
        "relative_buckets=8 applies to a relative position table, and there is none: position=none.",
    ),
    (["bert-base", "tie=false"], "tie=false applies to a head that predicts tokens, and there is none: head=none. Add head=mlm."),
    (
        ["encoder", "embedding_size=8"],
        "embedding_size=8 sets the width of token embeddings, and there are none: vocab=none. Add vocab",
    ),
    (
        ["bert-base", "channels=1"],
        "channels=1 applies to an image, and the input is not one: image=none. Add image and patch",
    ),
    (["bert-base", "rotary_base=500"], "rotary_base=500.0 applies to rotary positions only: position=learned."),
    (["whisper-tiny", "head=mlm"], "head=mlm predicts tokens, but there is no vocabulary. Give head=classify."),
    (["whisper-tiny", "segments=2"], "segments=2 needs a token embedding. Leave it out."),
    (["https://host/config.json"], "https://host/config.json is a URL, and nothing is downloaded."),
    (["x" * 5000], "unknown preset"),
    (["a\0b"], "unknown preset"),
    (["bert-base\n\x1b[31m"], "unknown preset 'bert-base??[31m'."),
]


@pytest.mark.parametrize(("words", "message"), REFUSALS, ids=[str(words)[:40] for words, _ in REFUSALS])
def test_invalid_words_are_refused_in_one_line(words, message):
    with pytest.raises(GlassformerError) as refusal:
        request_from_words(words)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_positions_without_a_table_are_not_silently_ignored():
    with pytest.raises(
        GlassformerError, match=r"positions=128 sets the rows of a position table, and there is none: position=none\. Add"
    ):
        gf.spec("encoder", vocab=100, positions=128)
    assert gf.spec("encoder", vocab=100, positions=128, position="learned").positions == 128
    assert gf.spec("encoder", vocab=100, positions=128, position="none").positions == 128
    assert gf.spec("bert-base", positions=128).positions == gf.spec("transformer-base", positions=128).positions == 128


def test_positions_are_the_length_of_audio_with_or_without_a_table():
    assert gf.spec("encoder", mels=3, positions=5).frames == 10


@pytest.mark.parametrize(
    "words", ["deberta-v3-base relative_norm=false", "t5-small relative_buckets=8", "modernbert-base rotary_base=500"]
)
def test_a_field_with_an_effect_is_accepted(words):
    name, _, value = words.partition(" ")[2].partition("=")
    assert str(getattr(request_from_words(words.split()).spec, name)).lower().removesuffix(".0") == value


def test_as_class_needs_a_config():
    with pytest.raises(GlassformerError, match="'bert-base' is a preset"):
        gf.spec("bert-base", as_class="BertForMaskedLM")


def test_a_folder_without_a_spec_is_refused_with_the_expected_files(tmp_path):
    with pytest.raises(GlassformerError, match=r"contains no config\.json, spec\.json or spec\.toml"):
        request(str(tmp_path))


def test_a_folder_of_runs_is_refused_with_the_name_of_one(tmp_path):
    for name in ("epochs-10", "epochs-30"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"contains 2 runs: name one, such as epochs-10\.$"):
        request(str(tmp_path))


@pytest.mark.parametrize(("name", "text"), [("empty.toml", ""), ("empty.json", "{}"), ("comments.toml", "# nothing\n")])
def test_an_empty_file_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(GlassformerError, match=f"{name} is empty: a spec file contains fields"):
        request(tmp_path / name)
