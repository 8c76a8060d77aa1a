"""The report: one page that needs nothing, says what the other readings say, and takes every foreign word as a word."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import glassformer as gf
from glassformer.configs.reading import request
from glassformer.errors import GlassformerError
from glassformer.model.kept import FUSED
from glassformer.numbers.seeded import seeded_run
from glassformer.show.contributions import sums
from glassformer.show.report import Section, page, save_page
from glassformer.show.report.derived import derived_sections, lead, sentence, subject
from glassformer.show.report.learned import is_run, learned_section, read_run
from glassformer.show.report.page import facts
from glassformer.show.report.seen import Check, attention_section, checks_section, run_checks
from glassformer.show.table import Column, Table
from glassformer.spec import EncoderSpec

HOSTILE = '</style></script><script>alert(1)</script><img src=x onerror=alert(1)>"&'
AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"


class Reader(HTMLParser):
    """Remembers tags, attributes and text, and finds what is not closed."""

    void = frozenset({"meta", "img", "br", "source", "link", "input"})

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.words, self.faults = [], [], [], [], []
        self.feed(text)
        self.faults += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"/{tag}")

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def spec_page(*words, **fields):
    about = subject(request(*words, **fields), FUSED)
    return page(about.requested.label, lead(about), list(derived_sections(about)))


@pytest.fixture(scope="module")
def bert():
    return spec_page("bert-base", t=512)


def run_folder(path, *, epochs=3, end=True, name="digits", confusion=((2, 1), (0, 3))):
    """What a training run leaves behind, as far as a report reads it."""
    path.mkdir(parents=True)
    predicted = {"parameters": 1234, "matrix_flops": 5_000_000, "bytes": 7_000_000, "batch": 4, "t": 16}
    data = {"name": name, "labels": ["zero", HOSTILE], "rows": {"train": 10, "validation": 2, "test": 6}, "source": {}}
    about = {"format": 1, "data": data, "predicted": predicted, "provenance": {"licence": "CC0", "baseline": "97 %"}}
    (path / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (path / "settings.json").write_text(json.dumps({"epochs": epochs, "lr": 0.001}), encoding="utf-8")
    lines = [{"kind": "start", "measured": {"parameters": 1234}}, {"kind": "step", "step": 1}]
    losses = [0.5 - 0.1 * epoch if epoch < 2 else 0.6 for epoch in range(epochs)]
    for epoch, loss in enumerate(losses):
        part = {"loss": 0.4 * 0.7**epoch, "accuracy": 0.5 + 0.1 * epoch}
        lines.append({"kind": "epoch", "epoch": epoch + 1, "train": part, "validation": part | {"loss": loss}, "seconds": epoch})
    if end:
        step = {
            "rows": 4,
            "t": 12,
            "flops": 4_900_000,
            "bytes": 7_100_000,
            "predicted_flops": 5_000_000,
            "predicted_bytes": 7_000_000,
        }
        test = {"accuracy": 0.8333, "loss": 0.3, "confusion": confusion}
        lines.append({"kind": "end", "test": test, "seconds": 12.5, "peak_bytes": 400_000_000, "measured": {"step": step}})
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_page_is_whole_and_needs_nothing(bert):
    found = Reader(bert)
    assert found.faults == []
    assert not {"script", "link", "iframe", "object", "form"} & set(found.tags)
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", bert)
    assert "default-src 'none'; img-src data:" in unescape(bert)
    ids = [value for _, name, value in found.attributes if name == "id"]
    assert ids == ["encoder", "ledger", "shapes", "cost", "equations"]
    assert [value for _, name, value in found.attributes if name == "href"] == [f"#{one}" for one in ids]


def test_the_page_agrees_with_the_algebra(bert):
    text = Reader(bert).text
    count, cost = gf.count("bert-base"), gf.cost("bert-base", t=512)
    assert "109,482,240" in text
    for line in count.lines:
        assert line.symbol in text and f"{line.count:,}" in text
    for part in count.subtotals:
        assert f"{part.name} {part.count:,}" in text
    assert f"{cost.multiply_adds:,}" in text and f"{cost.flops:,}" in text
    assert "97.1 G" in text  # 97,090,169,344
    rows, columns = (gf.shapes("bert-base", t=512, convention=one)["layers.0.ffn.W_1"].shape for one in ("rows", "columns"))
    assert f"{rows[0]} × {rows[1]}" in text and f"{columns[0]} × {columns[1]}" in text
    assert text.count("12 layers are identical") == 1
    assert "512 97.1 G 10.2% 291 G" in text  # the last row of the table of lengths


def test_both_themes_and_print_are_there(bert):
    assert "prefers-color-scheme:dark" in bert and "@media print" in bert
    assert bert.count("--gf-attention:#") == 2


@pytest.mark.parametrize("name", ["vit-b16", "modernbert-base", "t5-small", "albert-base", "layer", "attention", "dinov2-b"])
def test_every_kind_of_encoder_has_a_page(name):
    found = Reader(spec_page(name))
    assert found.faults == []
    assert f"{gf.count(name).total:,}" in found.text
    assert ("Against the length" in found.text) == (not gf.spec(name).one_length)


def test_a_spec_is_described_in_a_sentence():
    assert sentence(gf.spec("bert-base")) == (
        "An encoder of 12 layers of width 768 with 12 heads of 64, feed-forward blocks of 3,072. It reads tokens of a vocabulary "
        "of 30,522."
    )
    assert sentence(gf.spec("vit-b16")).endswith("in 196 patches, and ends in the head classify.")


def test_foreign_words_are_words():
    made = page(
        HOSTILE,
        facts([(HOSTILE, HOSTILE)]),
        [Section("a", HOSTILE, Table(HOSTILE, [Column(HOSTILE)], [[HOSTILE]], [HOSTILE]).markup())],
    )
    found = Reader(made)
    assert found.faults == []
    assert "script" not in found.tags and "img" not in found.tags
    assert found.text.count("alert(1)") == 2 * 10


def test_a_report_is_replaced_and_nothing_else_is(tmp_path):
    path = tmp_path / "report.html"
    assert save_page(page("one", "", []), path) == path
    save_page(page("two", "", []), path)
    assert "<h1>two</h1>" in path.read_text(encoding="utf-8")
    other = tmp_path / "mine.html"
    other.write_text("<p>mine</p>", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"mine\.html exists and is not a report: choose another --out\."):
        save_page(page("three", "", []), other)
    assert other.read_text(encoding="utf-8") == "<p>mine</p>"
    with pytest.raises(GlassformerError, match="is a folder"):
        save_page("", tmp_path)
    with pytest.raises(GlassformerError, match="cannot be written"):
        save_page("", tmp_path / "no" / "such" / "folder.html")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine.html", "report.html"]


def test_attention_is_shown_for_every_head():
    run = seeded_run(EncoderSpec(d_model=8, heads=2, layers=3), words="Tom a été <b>entarté</b>")
    section = attention_section(run, "A sentence.")
    found = Reader(section.html)
    assert found.faults == []
    assert found.tags.count("picture") == 1 + 2 * 6  # the scale; every head small and large
    assert "b" not in found.tags and "<b>entarté</b>" in found.text


def test_checks_hold_of_a_run_and_fail_of_a_broken_one():
    run = seeded_run(EncoderSpec(d_model=8, heads=2, layers=2), words="a b c")
    assert [check.holds for check in run_checks(run)] == [True, True]
    run.values["layers.0.attention.weights"] = run["layers.0.attention.weights"] * 1.01
    run.values["layers.1.ffn.out"] = run["layers.1.ffn.out"] + 0.5
    assert [check.holds for check in run_checks(run)] == [False, False]
    text = Reader(checks_section([Check(True, "right"), Check(False, HOSTILE)]).html).text
    assert "✓ right" in text and "✗" in text


def test_a_run_shows_its_curves_and_results(tmp_path):
    run = read_run(run_folder(tmp_path / "run", epochs=6))
    found = Reader(learned_section(run).html)
    assert found.faults == [] and "script" not in found.tags and "img" not in found.tags
    for words in (
        "Data: digits in 2 classes; rows: 10 train, 2 validation, 6 test.",
        "test accuracy 83.3%",
        "best epoch 6 of 6 validation accuracy there 100.0%",
        "run overfits from epoch 2: the validation loss rose from 0.4 to 0.6",
        "parameters 1,234 1,234",
        "FLOPs of a step of 4 × 12 0.005 G 0.0049 G",
        "memory of a step of 4 × 12 7.00 MB 7.10 MB",
        "zero 100.0% 66.7% 3",
        "licence: CC0",
    ):
        assert words in found.text, words
    assert "turns at 2" in found.text


def test_a_run_that_is_not_finished_says_so(tmp_path):
    text = Reader(learned_section(read_run(run_folder(tmp_path / "run", end=False))).html).text
    assert "This run is not finished: continue it with 'glassformer resume'." in text
    assert "test accuracy" not in text


@pytest.mark.parametrize("confusion", [None, [], [[1]], [[1, 2], [3]], [["a", 1], [1, 2]], {"a": 1}, "x"])
def test_a_strange_table_of_confusions_is_left_out(tmp_path, confusion):
    text = learned_section(read_run(run_folder(tmp_path / "run", confusion=confusion))).html
    assert ("Test results by class" in text) == (confusion == [[1]])


def test_many_epochs_are_cut_with_a_sentence(tmp_path):
    text = Reader(learned_section(read_run(run_folder(tmp_path / "run", epochs=100))).html).text
    assert "40 epochs in between are left out." in text


def test_a_folder_without_a_run_is_reported(tmp_path):
    assert not is_run(tmp_path) and not is_run("bert-base") and not is_run("\0")
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    assert is_run(tmp_path)
    with pytest.raises(GlassformerError, match=r"has no metrics\.jsonl"):
        read_run(tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1024])
def test_a_browser_shows_it_at_any_width_without_asking_for_anything(browser, tmp_path, width, scheme):
    path = tmp_path / "report.html"
    about = subject(request("bert-tiny", vocab=50), FUSED)
    run = seeded_run(about.spec, words="Tom a été entarté cet été")
    made = [
        *derived_sections(about),
        attention_section(run, "A sentence."),
        learned_section(read_run(run_folder(tmp_path / "run"))),
    ]
    path.write_text(page("bert-tiny", lead(about), made), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    shown, asked, said = context.new_page(), [], []
    shown.on("request", lambda request: asked.append(request.url))
    shown.on("console", lambda message: said.append(message.text))
    shown.goto(path.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") == width  # nothing sticks out
    assert (
        shown.evaluate("getComputedStyle(document.body).backgroundColor")
        == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 29)"}[scheme]
    )
    assert shown.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 0)")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    if AXE.exists():
        shown.add_script_tag(path=str(AXE))
        faults = shown.evaluate("axe.run().then(found => found.violations.map(one => [one.impact, one.id, one.nodes[0].html]))")
        assert [fault for fault in faults if fault[0] in ("serious", "critical")] == []
    context.close()


def test_the_logit_of_the_predicted_class_is_split_into_bars_that_add_up(tmp_path):
    path = tmp_path / "why.html"
    found = gf.report("encoder d_model=8 heads=2 layers=2 vocab=20 head=classify classes=3", text="time flies", out=path)
    assert "why" in found.sections
    page = path.read_text(encoding="utf-8")
    section = page[page.index('<section id="why">') :]
    ledger = gf.attribute("encoder d_model=8 heads=2 layers=2 vocab=20 head=classify classes=3", "time flies")
    assert ledger.label.replace("'", "&#x27;") in section or ledger.label.replace("'", "&#39;") in section
    assert section.count('class="up"') + section.count('class="down"') == len(sums(ledger))
    assert (
        "why"
        not in gf.report("encoder d_model=8 heads=2 layers=2 vocab=20", text="time flies", out=tmp_path / "none.html").sections
    )
