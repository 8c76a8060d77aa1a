"""Model cards and comparisons: figures that other commands give, facts of a folder, and files that are never replaced."""

import json

import pytest
from click.testing import CliRunner
from tiny_models import Case, model_of, save

import glassformer as gf
from glassformer.cli.main import glassformer
from glassformer.errors import GlassformerError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = save(model_of(Case("bert", "BertForMaskedLM")), tmp_path_factory.mktemp("model"))
    tokenizer = {
        "model": {"type": "WordPiece", "vocab": {"a": 0, "b": 1}},
        "added_tokens": [{"content": "[CLS]", "special": True}],
    }
    (made / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (made / "LICENSE").write_text("\n  Apache License\nVersion 2.0\n", encoding="utf-8")
    return made


def run(*words):
    return CliRunner().invoke(glassformer, [str(word) for word in words])


def test_the_figures_of_a_card_are_those_of_count_cost_and_largest_batch():
    card = gf.card("minilm-l6")
    assert card.model.parameters.total == gf.count("minilm-l6").total
    assert [one.t for one in card.model.lengths] == [128, 512]
    for one in card.model.lengths:
        found = gf.cost("minilm-l6", t=one.t, kernel="fused")
        assert (one.flops, one.multiply_adds, one.float32) == (found.flops, found.multiply_adds, found.memory.total)
    for one in card.model.fits[:2]:
        given = {"memory": one.memory, "t": 512, "kernel": "fused"}
        assert one.training == gf.largest_batch("minilm-l6", **given, train=True)
        assert one.encoding == gf.largest_batch("minilm-l6", **given, dtype="bfloat16")


def test_a_card_of_a_folder_tells_its_class_its_tokenizer_and_its_licence(folder):
    card = gf.card(folder)
    assert card.title == folder.name
    assert dict(card.facts) == {
        "class": "BertForMaskedLM",
        "tokenizer": "WordPiece, 2 pieces",
        "special tokens": "[CLS]",
        "licence": "LICENSE: Apache License",
    }


def test_a_card_is_written_as_its_name_ends_and_never_over_another_file(folder, tmp_path):
    page, text = tmp_path / "card.html", tmp_path / "card.md"
    assert run("card", folder, "--out", page).output == f"card: {page}\n"
    gf.card(folder, out=text)
    assert text.read_text(encoding="utf-8").startswith(f"# {folder.name}\n\nAn encoder of 2 layers of width 12")
    assert "<h1>" in page.read_text(encoding="utf-8")
    assert "http" not in page.read_text(encoding="utf-8").replace("http-equiv", "")
    for name, message in (("card.md", "card.md exists and is not replaced"), ("card.txt", "its name must end in .md or .html")):
        with pytest.raises(GlassformerError, match=message):
            gf.card(folder, out=tmp_path / name)


def test_untrusted_text_is_only_text_in_a_card(folder, tmp_path):
    (folder / "LICENSE").write_text("<script>alert(1)</script> [x](http://x)", encoding="utf-8")
    page, text = tmp_path / "card.html", tmp_path / "card.md"
    gf.card(folder, out=page)
    gf.card(folder, out=text)
    assert "<script>alert" not in page.read_text(encoding="utf-8") + text.read_text(encoding="utf-8")
    assert "[x](http" not in text.read_text(encoding="utf-8")


def test_models_are_side_by_side_at_one_length():
    found = gf.compare("bert-base", "modernbert-base", "vit-b16", t=256)
    assert [model.t for model in found.models] == [256, 256, 197]
    assert found.notes == ("The inputs differ in length: compare figures per position.",)
    assert found.models[1].attention == "tokens up to 64 away, all in 8 of 22 layers"
    assert found.models[0].usual.flops == gf.cost("bert-base", t=256, kernel="fused").flops
    shown = run("compare", "bert-base", "bert-base", "layers=6", "--json")
    assert [model["label"] for model in json.loads(shown.output)["models"]] == ["bert-base", "bert-base layers=6"]


def test_speed_is_measured_where_it_is_requested():
    small = {"d_model": 16, "heads": 2, "layers": 1}
    words = [gf.spec("bert-tiny", **small), gf.spec("bert-tiny", **small, d_ff=8)]
    found = gf.compare(*words, t=8, speed=True)
    assert all(model.speed > 0 for model in found.models)
    assert "inputs per second, measured" in str(found)


def test_a_single_model_cannot_be_compared():
    with pytest.raises(GlassformerError, match="compare needs at least two models"):
        gf.compare("bert-base")
    assert "compare needs at least two specs" in str(run("compare", "bert-base").exception)
