"""Hostile texts in every file that is written, opened from the disk in a real browser: shown as text, and nothing runs."""

import json
from html import escape

import numpy as np
import pytest
from faults.hostile_strings import STRINGS
from faults.test_exporters import TINY, VIEWS, hostile_set, labelled
from lab.hostile import FEW, FEWEST, batches, canary
from markdown_it import MarkdownIt

from glassformer import algebra
from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.roster import Roster
from glassformer.answers.quiz.variant import variant
from glassformer.errors import GlassformerError
from glassformer.lab.pages.bench_exports import FORMS, Wanted, export
from glassformer.model.kept import FUSED
from glassformer.numbers.attention import attention
from glassformer.numbers.seeded import seeded_run
from glassformer.show.attention_html import page as attention_page
from glassformer.show.curves import Curve, save_curves
from glassformer.show.icicle import icicle_svg
from glassformer.show.notebook.learning import Curves
from glassformer.show.pictures import save_attention
from glassformer.show.quiz import quiz_files
from glassformer.show.report import page as report_page
from glassformer.show.report.derived import derived_sections, lead, subject
from glassformer.show.report.learned import learned_section, read_run
from glassformer.show.report.seen import attention_section
from glassformer.spec import EncoderSpec

SPEC = EncoderSpec(d_model=8, heads=2, layers=1)


def whole(fragments):
    """A page of fragments, each in a separate section, as in a notebook."""
    inner = "".join(f"<section class=one>{fragment}</section>" for fragment in fragments)
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>a notebook</title><body>{inner}</body></html>"


def run_with(words):
    """A run whose tokens are the strings, blanks and all."""
    made = seeded_run(SPEC, words=" ".join("w" * len(words)))
    made.tokens = [list(words)]
    return made


def curve(name):
    return Curve(name, (1.0, 0.5), (1.0, 1.2), (0.5, 0.9), (0.5, 0.4))


def run_folder(folder, strings):
    """A run whose labels, data, licence and figures are the strings."""
    folder.mkdir()
    data = {"name": strings[0], "task": strings[-1], "labels": strings, "rows": {strings[0]: 3, "train": strings[0]}}
    about = {
        "data": data,
        "provenance": {"licence": strings[-1], "baseline": strings[0]},
        "predicted": {"parameters": strings[0]},
    }
    about |= {"counts": {"trained": strings[0]}, "start": {"from": strings[0]}}
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "settings.json").write_text(json.dumps({one: one for one in strings}), encoding="utf-8")
    figures = {"loss": 0.5, "accuracy": 0.5}
    lines = [{"kind": "start", "measured": {"parameters": strings[0]}}]
    lines += [{"kind": "epoch", "epoch": strings[0], "train": figures, "validation": figures, "seconds": strings[0]}] * 2
    lines += [{"kind": "end", "test": {"accuracy": strings[0], "confusion": np.eye(len(strings), dtype=int).tolist()}}]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def reports(folder, strings):
    """Reports of a spec, of a run and of who attends to whom."""
    about = subject(labelled(" ".join(strings)), FUSED)
    yield "spec.html", report_page(about.requested.label, lead(about), list(derived_sections(about)))
    learned = learned_section(read_run(run_folder(folder / "run", strings)))
    yield "run.html", report_page(" ".join(strings), escape(strings[0]), [learned])
    yield "attention.html", report_page(strings[0], "", [attention_section(run_with(strings), " ".join(strings))])


def bench(_, strings):
    """Each view of the bench, saved from the lab."""
    asked = labelled(" ".join(strings))
    for view, forms in FORMS.items():
        for form in sorted(set(forms) & {"html", "svg"}):
            yield f"{view}.{form}", export(Wanted(view, form, "rows", asked, TINY._replace(label=strings[0])))["text"]


def pages_of_attention(_, strings):
    weights = [[np.full((len(strings), len(strings)), 1 / len(strings))]]
    yield "attention.html", attention_page(weights, strings, (0,), (0,))


def pictures(folder, strings):
    """Everything that is saved as SVG."""
    pytest.importorskip("matplotlib")
    strings = [one.replace("\0", "?") for one in strings]
    for name, save in (
        ("attention", lambda path: save_attention(attention(run_with(strings[:12]), layer=0, head=0), path)),
        ("curves", lambda path: save_curves([curve(one) for one in strings[:6]], path)),
    ):
        yield f"{name}.svg", save(folder / f"{name}-drawn.svg").read_text(encoding="utf-8")
    yield "icicle.svg", icicle_svg(algebra.count(TINY.spec, label=" ".join(strings)))


def notebooks(_, strings):
    """What results show in a notebook, one under the other."""
    run = run_with(strings)
    fragments = [run.to_html(), attention(run, layer=0).to_html(), run.explain("layers.0.out", t=0, d_model=1).to_html()]
    fragments += [Curves(tuple(curve(one) for one in strings[:8])).to_html(), curve(strings[0]).to_html()]
    for three in batches(strings, 3):
        try:
            fragments.append(variant(parse_set(hostile_set((three * 3)[:3]), "hostile"), 1).to_html())
        except GlassformerError as error:
            fragments.append(escape(str(error)))
    yield "notebook.html", whole(fragments)


def results(_, strings):
    """What the command line prints of every result as HTML, and as Markdown that is set by a reader which lets HTML through."""
    setter = MarkdownIt("commonmark", {"html": True}).enable("table")
    for name, view in VIEWS.items():
        shown, said = [], []
        for text in strings:
            try:
                shown.append(view(text))
            except GlassformerError as error:
                said.append(escape(str(error)))
        yield f"{name.replace(' ', '-')}.html", whole([*(found.html() for found in shown), *said])
        yield f"{name.replace(' ', '-')}-markdown.html", whole(setter.render(found.markdown()) for found in shown)


def quizzes(_, strings):
    """Papers, keys and answer sheets as pages."""
    for number, three in enumerate(batches(strings, 3)):
        try:
            quiz = parse_set(hostile_set((three * 3)[:3]), "hostile")
            student = (" ".join(three[0].split())[:60] or "x").encode("utf-8", "replace").decode()
            files = list(quiz_files(quiz, 1, Roster.of(student), ("html",)))
        except GlassformerError:
            continue
        for path, content in files:
            if path.endswith(".html"):
                yield f"{number}-{path.replace('/', '-')}", content.decode()


# How many strings go into one file, and whether plain words give a page of the same elements.
FILES = {
    "reports": (reports, 20, True),
    "bench": (bench, 60, True),
    "attention": (pages_of_attention, 50, True),
    "pictures": (pictures, 12, False),
    "notebooks": (notebooks, 20, False),
    "results": (results, 100, False),
    "quizzes": (quizzes, 500, False),
}
SLOW = {"pictures": 1, "results": 3, "quizzes": 1}  # `make test` takes the fewest strings here, or every third of them


@pytest.mark.parametrize("strings", [FEW, pytest.param(STRINGS, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.parametrize("name", list(FILES))
def test_a_written_file_shows_hostile_texts_as_text(browser, tmp_path, name, strings, figure):
    make, size, alike = FILES[name]
    strings = FEWEST[:: SLOW[name]] if strings is FEW and name in SLOW else strings
    count = 0
    with canary(browser) as made:
        page = made.new_page()
        for number, batch in enumerate(batches(strings, size)):
            folder = tmp_path / str(number)
            plain = {}
            for words in [["plain"] * len(batch), batch] if alike else [batch]:
                (folder / words[0][:5].replace("/", "")).mkdir(parents=True)
                for file, text in make(folder / words[0][:5].replace("/", ""), words):
                    path = folder / f"{'plain' if words is not batch else 'hostile'}-{file}"
                    path.write_text(text, encoding="utf-8", errors="replace")
                    made.open(page, path)
                    found = made.look(page, batch, plain=plain.get(file), about=f"{name} {path.name}")
                    plain[file] = found["counts"] if alike else None
                    sections = page.locator("body > section.one").count()
                    if sections != text.count("<section class=one>"):
                        made.faults.append(f"{path.name}: {sections} sections")
                    count += 1
    said = "drawn as glyphs" if name == "pictures" else f"{len(made.shown)} of them found in one"
    assert name == "pictures" or len(made.shown) > 0.5 * len([one for one in strings if one.isprintable() and len(one) > 5])
    figure(
        "W5",
        f"{name}: {len(strings)} strings in {count} files, {said}",
        cases=len(strings),
        part=f"file {name}",
    )
