"""`gf.save_picture`: attention, experiments and learning curves as files."""

import pytest

import glassformer as gf
from glassformer import GlassformerError

pytest.importorskip("matplotlib")
LOG = '{"kind": "epoch", "train": {"loss": 2, "accuracy": 0.5}, "validation": {"loss": 1, "accuracy": 0.5}}\n'


def test_every_result_that_has_a_picture_is_drawn(tmp_path):
    (tmp_path / "metrics.jsonl").write_text(LOG)
    attention = gf.run("layer", d_model=8, heads=2, text="Tom a été").attention()
    ledger = gf.attribute("layer", "Tom a été", of="layers.0.out t=1 d_model=2", d_model=8, heads=2)
    for result in (attention, ledger, gf.experiment("order"), gf.curves(tmp_path), gf.curves(tmp_path).curves[0]):
        path = gf.save_picture(result, tmp_path / f"{type(result).__name__}.svg")
        assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")
    assert gf.save_picture(attention, tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_another_ending_or_result_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(
        GlassformerError, match="Count cannot be drawn: give attention, contributions, an experiment or learning curves"
    ):
        gf.save_picture(gf.count("bert-tiny"), tmp_path / "a.png")
    with pytest.raises(GlassformerError, match="html"):
        gf.save_picture(gf.experiment("order"), tmp_path / "a.html")
    assert not list(tmp_path.iterdir())
