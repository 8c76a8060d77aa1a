"""Presets: each has the published parameter count of its model."""

import json
from pathlib import Path

import pytest

from glassformer.configs.huggingface import from_config, unwrap
from glassformer.configs.presets import decoder_names, known_as, known_preset, preset, preset_doc, preset_names, seq2seq_names
from glassformer.configs.reading import request_from_words, spec
from glassformer.errors import GlassformerError
from glassformer.program import build
from glassformer.spec import EncoderSpec

MODELS = Path(__file__).parents[1] / "data" / "models"

# Parameters of the published models: the Hugging Face class without a head (BERT-like models with their pooler); for ViT and
# DeiT with the classifier of 1000 classes, as timm and the papers count them.
PUBLISHED = {
    "attention": 4 * (512 * 512 + 512),
    "layer": 4 * (512 * 512 + 512) + 2 * 512 * 2048 + 2048 + 512 + 4 * 512,
    "encoder": 6 * 3_152_384,
    "transformer-base": 6 * 3_152_384 + 37_000 * 512,
    "transformer-big": 6 * 12_596_224 + 37_000 * 1024,
    "bert-tiny": 4_385_920,
    "bert-mini": 11_170_560,
    "bert-small": 28_763_648,
    "bert-medium": 41_373_184,
    "bert-base": 109_482_240,
    "bert-large": 335_141_888,
    "bert-base-cased": 108_310_272,
    "bert-large-cased": 333_579_264,
    "bert-base-multilingual-cased": 177_853_440,
    "bert-base-multilingual-uncased": 167_356_416,
    "bert-base-chinese": 102_267_648,
    "minilm-l6": 22_713_216,
    "minilm-l12": 33_360_000,
    "roberta-base": 124_645_632,
    "roberta-large": 355_359_744,
    "distilroberta-base": 82_118_400,
    "xlm-roberta-base": 278_043_648,
    "xlm-roberta-large": 559_890_432,
    "bge-m3": 567_754_752,
    "distilbert-base": 66_362_880,
    "albert-base": 11_683_584,
    "albert-large": 17_683_968,
    "albert-xlarge": 58_724_864,
    "albert-xxlarge": 222_595_584,
    "electra-small": 13_483_008,
    "electra-base": 108_891_648,
    "electra-large": 334_092_288,
    "longformer-base": 148_659_456,
    "longformer-large": 434_600_960,
    "layoutlm-base": 112_627_968,
    "layoutlm-large": 339_336_192,
    "fnet-base": 82_861_056,
    "layoutlmv3-base": 125_326_976,
    "nystromformer-512": 108_500_112,
    "funnel-small": 130_973_184,
    "funnel-medium": 130_973_184,
    "jina-embeddings-v3": 572_310_396,
    "fnet-large": 236_945_408,
    "mobilebert": 24_844_544,
    "squeezebert": 51_089_664,
    "mpnet-base": 109_486_464,
    "deberta-base": 138_601_728,
    "deberta-large": 405_163_008,
    "deberta-v3-xsmall": 70_682_112,
    "deberta-v3-small": 141_304_320,
    "deberta-v3-base": 183_831_552,
    "deberta-v3-large": 434_012_160,
    "mdeberta-v3-base": 278_218_752,
    "deberta-v2-xlarge": 884_593_152,
    "deberta-v2-xxlarge": 1_564_549_632,
    "modernbert-base": 149_014_272,
    "modernbert-large": 394_781_696,
    "nomic-embed-text": 136_731_648,
    "gte-base-en": 136_776_192,
    "jina-v2-base-en": 137_368_320,
    "jina-v2-small-en": 32_690_688,
    "bigbird-base": 127_468_800,
    "roformer-base": 123_555_840,
    "flaubert-base": 138_233_088,
    "xlm-mlm-en": 667_088_896,
    "neobert": 221_665_536,
    "esm2-8m": 7_409_081,
    "esm2-35m": 33_269_521,
    "esm2-150m": 147_728_601,
    "esm2-650m": 649_400_981,
    "esm2-3b": 2_832_444_321,
    "t5-small": 35_330_816,
    "t5-base": 109_628_544,
    "t5-large": 334_939_648,
    "t5-v1.1-base": 109_628_544,
    "bart-base": 81_920_256,
    "bart-large": 203_678_720,
    "whisper-tiny": 8_208_384,
    "whisper-base": 20_590_592,
    "whisper-small": 88_154_112,
    "whisper-medium": 307_216_384,
    "whisper-large": 636_784_640,
    "whisper-large-v3": 636_968_960,
    "wav2vec2-base": 94_371_712,
    "wav2vec2-large": 315_428_992,
    "wav2vec2-xlsr-53": 315_438_720,
    "hubert-base": 94_371_712,
    "wavlm-base": 94_381_936,
    "wavlm-large": 315_453_120,
    "vit-ti16": 5_717_416,
    "vit-s16": 22_050_664,
    "vit-b16": 86_567_656,
    "vit-b32": 88_224_232,
    "vit-b8": 86_576_872,
    "vit-b16-384": 86_859_496,
    "vit-l16": 304_326_632,
    "vit-l32": 306_535_400,
    "vit-h14": 632_045_800,
    "deit-ti": 5_717_416,
    "deit-s": 22_050_664,
    "deit-b": 86_567_656,
    "deit-ti-distilled": 5_910_800,
    "deit-s-distilled": 22_436_432,
    "deit-b-distilled": 87_338_192,
    "clip-b32-text": 63_165_952,
    "clip-l14-text": 123_060_480,
    "clip-b32-vision": 87_456_000,
    "clip-b16-vision": 85_799_424,
    "clip-l14-vision": 303_179_776,
    "siglip-b16-text": 110_271_744,
    "siglip-b16-vision": 92_884_224,
    "dinov2-s": 22_056_576,
    "dinov2-b": 86_580_480,
    "dinov2-l": 304_368_640,
    "dinov2-g": 1_136_480_768,
    "dinov3-s16": 21_596_544,
    "dinov3-b16": 85_660_416,
    "dinov3-l16": 303_129_600,
    "siglip2-b16-naflex-text": 282_303_744,
    "siglip2-b16-naflex-vision": 92_930_304,
    "ast-audioset": 86_594_063,
    "videomae-b16": 86_227_200,
    "videomae-s16": 21_879_936,
    "videomae-l16": 303_860_736,
    "videomae-b16-kinetics": 86_534_800,
    "vivit-b16x2": 88_954_000,
    "vit-mae-b16": 85_798_656,
    "vit-mae-l16": 303_301_632,
    "vit-mae-h14": 630_764_800,
}

# Presets with a record in tests/data/models: not only the count but every tensor is the same.
RECORDS = {
    "albert-base": "albert-base-v2",
    "ast-audioset": "ast-audioset",
    "bart-base": "bart-base-encoder",
    "bert-base": "bert-base-uncased",
    "bert-base-cased": "bert-base-cased",
    "bert-large": "bert-large-uncased",
    "bert-tiny": "bert-tiny-uncased",
    "clip-b32-text": "clip-vit-b32-text",
    "clip-b32-vision": "clip-vit-b32-vision",
    "deberta-base": "deberta-base",
    "deberta-v3-small": "deberta-v3-small",
    "deit-ti-distilled": "deit-tiny-distilled-cls1000",
    "dinov2-l": "dinov2-large",
    "dinov3-b16": "dinov3-vitb16",
    "electra-small": "electra-small-discriminator",
    "gte-base-en": "gte-base-en-v1.5-published",
    "jina-v2-base-en": "jina-v2-base-en-published",
    "fnet-base": "fnet-base",
    "layoutlmv3-base": "layoutlmv3-base",
    "jina-embeddings-v3": "jina-v3-published",
    "mobilebert": "mobilebert",
    "modernbert-base": "modernbert-base",
    "layoutlm-base": "layoutlm-base",
    "longformer-base": "longformer-base",
    "mpnet-base": "mpnet-base",
    "bigbird-base": "bigbird-roberta-base",
    "roformer-base": "roformer-base-chinese",
    "siglip-b16-text": "siglip-base-text",
    "squeezebert": "squeezebert",
    "siglip-b16-vision": "siglip-base-vision",
    "siglip2-b16-naflex-text": "siglip2-base-naflex-text",
    "siglip2-b16-naflex-vision": "siglip2-base-naflex-vision",
    "t5-base": "t5-base-encoder",
    "t5-small": "t5-small-encoder",
    "t5-v1.1-base": "flan-t5-base-encoder",
    "vit-b16": "vit-base-16-224-cls1000",
    "vit-b16-384": "vit-base-16-384-cls1000",
    "videomae-b16": "videomae-base",
    "videomae-b16-kinetics": "videomae-base-kinetics",
    "vit-mae-b16": "vit-mae-base",
    "vivit-b16x2": "vivit-b-16x2-kinetics400",
    "whisper-tiny": "whisper-tiny-encoder",
    "xlm-roberta-base": "xlm-roberta-base",
}


def count(spec: EncoderSpec) -> int:
    return sum(parameter.size for parameter in build(spec).parameters)


def test_every_preset_has_a_published_count():
    assert set(preset_names()) == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_count_is_the_published_one(name):
    assert count(preset(name)) == PUBLISHED[name]


@pytest.mark.parametrize(("name", "record"), RECORDS.items())
def test_the_preset_is_the_model_that_its_config_describes(name, record):
    config, model_class, changes = unwrap(json.loads((MODELS / f"{record}.json").read_text(encoding="utf-8")))
    theirs = from_config(config, as_class=model_class).spec.replace(**changes)
    ours = preset(name)
    assert ours.replace(d_ff=ours.ffn_width, d_k=ours.head_k) == theirs.replace(d_ff=theirs.ffn_width, d_k=theirs.head_k)


def test_vit_b16_makes_17_563_828_224_multiply_adds():
    program = build(preset("vit-b16"))
    assert sum(step.operation.macs(step.inputs, step.output) for step in program.steps) == 17_563_828_224


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_preset_has_a_one_line_description(name):
    assert 10 < len(preset_doc(name)) < 110
    assert "\n" not in preset_doc(name)


def test_the_feed_forward_width_follows_d_model_unless_given():
    assert preset("layer").ffn_width == 2048
    assert preset("layer").replace(d_model=64, heads=4).ffn_width == 256


def test_an_unknown_preset_suggests_the_closest():
    with pytest.raises(
        GlassformerError,
        match=r"unknown preset 'bert-bse'. Did you mean 'bert-base'\? 'glassformer presets' lists them \(or with --decoders\).",
    ):
        preset("bert-bse")
    with pytest.raises(GlassformerError, match="unknown preset 'xyz'"):
        preset_doc("xyz")


def test_the_same_name_is_the_same_object():
    assert preset("bert-base") is preset("bert-base")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("BERT-base", "bert-base"),
        ("bert-base-uncased", "bert-base"),
        ("google-bert/bert-base-uncased", "bert-base"),
        ("sentence-transformers/all-MiniLM-L6-v2", "minilm-l6"),
        ("answerdotai/ModernBERT-large", "modernbert-large"),
        ("distilbert/distilbert-base-uncased", "distilbert-base"),
        ("google/vit-base-patch16-224", "vit-b16"),
        ("facebook/dinov2-large", "dinov2-l"),
    ],
)
def test_a_published_name_stands_for_its_preset(word, name):
    assert known_preset(word) == name
    found = request_from_words((word, "dropout=0.5"))
    assert (found.label.split()[0], found.spec) == (name, preset(name).replace(dropout=0.5))


def test_each_name_stands_for_one_preset():
    every = (*preset_names(), *decoder_names(), *seq2seq_names())
    names = [one.lower() for name in every for one in (name, *also(name))]
    assert len(names) == len(set(names)) == len(known_as())
    assert all(known_preset(name) == name for name in every)


def also(name):
    return [other for other, meant in known_as().items() if meant == name and other != name]


NAMED = [file for file in sorted(MODELS.glob("*.json")) if known_preset(file.stem)]
SIZES = "d_model heads layers vocab positions ffn_width norm activation segments image patch".split()


@pytest.mark.parametrize("file", NAMED, ids=lambda file: file.stem)
def test_a_config_under_a_published_name_has_the_sizes_of_that_preset(file):
    config, as_class, _ = unwrap(json.loads(file.read_text(encoding="utf-8"))["config"])
    theirs, ours = from_config(config, as_class=as_class, source=file.name).spec, preset(known_preset(file.stem))
    assert {name: getattr(theirs, name) for name in SIZES} == {name: getattr(ours, name) for name in SIZES}


def test_some_configs_have_published_names():
    assert {"bert-base-uncased", "bert-large-uncased", "albert-base-v2"} <= {file.stem for file in NAMED}


def test_a_file_takes_precedence_over_a_published_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bert-base-uncased").write_text("")
    with pytest.raises(GlassformerError, match="bert-base-uncased"):
        request_from_words(("bert-base-uncased",))
    Path("spec.toml").write_text('base = "bert-tiny"')
    assert request_from_words(("spec.toml",)).spec == preset("bert-tiny")


@pytest.mark.parametrize(
    "word",
    [
        "a/b/bert-base",
        "models/bert-base",
        "./bert-base",
        "/bert-base",
        "~/bert-base",
        "google/../bert-base",
        "bert-base/",
        "",
        "nonsense",
        "bert\0base",
        "x" * 5000,
    ],
)
def test_other_words_are_not_presets(word):
    assert known_preset(word) is None
    with pytest.raises(GlassformerError):
        request_from_words((word,))


def test_a_misspelt_published_name_is_corrected():
    with pytest.raises(GlassformerError, match="Did you mean 'bert-base-uncased'"):
        request_from_words(("BERT-base-unased",))


@pytest.mark.parametrize("word", ["BERT-base", "bert-base-uncased", "google-bert/bert-base-uncased"])
def test_any_name_of_a_preset_can_be_a_base(word):
    assert preset(word) == preset("bert-base")
    assert spec({"base": word, "layers": 2}) == spec("bert-base", layers=2)
