"""`gf.report`: one file about a spec, and what is in it."""

import pytest

import glassformer as gf
from glassformer import GlassformerError


def test_a_report_has_its_path_and_its_sections(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = gf.report("bert-tiny", t=5, without=["shapes", "equations"])
    assert (found.path.name, found.size) == ("bert-tiny-report.html", found.path.stat().st_size)
    assert found.sections == ("encoder", "ledger", "cost") and found.notes == ()


def test_a_spec_or_a_mapping_has_a_report_too(tmp_path):
    for what in (gf.spec("bert-tiny"), {"base": "bert-tiny"}):
        assert gf.report(what, out=tmp_path / "report.html", without="shapes").size > 10_000


def test_an_unknown_part_is_refused(tmp_path):
    with pytest.raises(GlassformerError, match="--without shape is not a part of a report"):
        gf.report("bert-tiny", without="shape", out=tmp_path / "report.html")
