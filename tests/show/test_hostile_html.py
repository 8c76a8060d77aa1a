"""Hostile text in every place that takes one, through every public function that gives HTML: it stays text.

Each page is parsed as a browser would parse it, once with harmless text and once with hostile text. Both must have the same tags
with the same attributes; only the words may differ.
"""

import json
from html.parser import HTMLParser

import pytest
from checkpoint_files import bert_folder
from command_line import glassformer

import glassformer as gf
from glassformer import algebra
from glassformer.answers.documents import check_text
from glassformer.answers.quiz import parse_set, variant
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.submissions import Submissions
from glassformer.answers.verdicts import check as diagnose
from glassformer.configs.reading import Request
from glassformer.lab.pages.bench_exports import FORMS, Wanted, export
from glassformer.lab.pages.by_hand import _exported
from glassformer.model.kept import FUSED
from glassformer.numbers import Run, open_checkpoint
from glassformer.numbers.attention import Attention
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.numbers.seeded import seeded_run
from glassformer.program import build
from glassformer.show import present
from glassformer.show.attention_html import attention_page, notebook_html
from glassformer.show.certificate import CertificateView
from glassformer.show.charts import Chart, Line
from glassformer.show.notebook.learning import Curves, RunView
from glassformer.show.quiz.bank import bank
from glassformer.show.quiz.html_page import html_page
from glassformer.show.quiz.page import key_page, quiz_page
from glassformer.show.report import Section, page
from glassformer.show.report.derived import derived_sections, lead, subject
from glassformer.show.report.learned import learned_section, read_run
from glassformer.show.report.seen import Check, attention_section, checks_section

TURNING = "\u202e\u2066\u2069\u200f"
HOSTILE = f"</td></style></title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&amp;{TURNING}"
IN_A_FILE_NAME = f"<script>alert(1)<img src=x onerror=alert(1)>\"'&{TURNING}"
HARMLESS = "plain"
SPEC = gf.spec("layer", d_model=8, heads=2, d_ff=8)
PROGRAM = build(SPEC, t=3)


def a_run(text):
    """A run over three tokens, one of which is the text."""
    run = seeded_run(SPEC, words="a b c", seed=0)
    return Run(run.program, run.values, tokens=[[text, "b", "c"]])


def quiz(text):
    said = json.dumps(text)
    return variant(
        parse_set(
            f'title = {said}\nabout = {said}\n[[question]]\nid = "one"\nkind = "concept"\ntext = {said}\nbecause = {said}\n'
            f'hints = [{said}]\n[[question.option]]\nsays = {said}\n[[question.option]]\nsays = "b"\ncode = "no_scaling"\n'
            '[[question]]\nid = "two"\nkind = "worked"\nask = "scores"\n'
            f'text = {said}\n[question.problem]\ntokens = [{said}, "b"]\nQ = [[1, 0], [0, 1]]\nK = [[1, 2], [0, 1]]\n'
            "V = [[1, 0], [2, 1]]\n",
            "hostile",
        ),
        seed=1,
        student=" ".join(text.split()),
    )


def problem(text):
    document = {"title": text, "tokens": [text, "b"], "Q": [[1, 0], [0, 1]], "K": [[1, 2], [0, 1]], "V": [[1, 0], [2, 1]]}
    return present(solve(parse_problem(document, "p"))).html()


def exported_sheet(text):
    given = {"Q": "1 0; 0 1", "K": "1 2; 0 1", "V": "1 0; 2 1"}
    return _exported({"kind": "attention", "title": text, "given": given, "choices": {}, "form": "html"})["text"]


def solution(text):
    lines = f"# {text}\n\n3 × 4 = 13 {text}\n\n{text}\n\n```glassformer\nspec: layer\nparams = 5\n```\n"
    return present(check_text(lines, name=text)).html()


class Certificate:
    """A certificate of a file whose names are the text."""

    def __init__(self, text):
        self.verdict, self.reason, self.model_class, self.parameters, self.stored = "exact", text, text, 5, text
        self.tied = self.fresh = self.missing = self.unexpected = self.misfits = self.unused = (text,)
        self.comparisons, self.rows, self.checked, self.given, self.notes = (), (), 0, text, (text,)


def report(text):
    asked = Request(text, SPEC, 1, 3)
    about = subject(asked, FUSED)
    return page(text, lead(about), [*derived_sections(about), Section("x", text, checks_section([Check(True, text)]).html)])


def bench(view, text):
    spec = Request(text, SPEC, 1, 3)
    return export(Wanted(view, "html", "rows", spec, spec))["text"]


def run_folder(folder, text):
    """What a training run leaves behind, with the text wherever a text can be."""
    path = folder / (IN_A_FILE_NAME if text == HOSTILE else HARMLESS)
    path.mkdir()
    data = {"name": text, "labels": [text, "b"], "rows": {text: 10}, "task": text}
    about = {"data": data, "provenance": {"licence": text, "baseline": text}, "counts": {"trained": 5, "task_specific": 2}}
    (path / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (path / "settings.json").write_text(json.dumps({text: text, "epochs": 2}), encoding="utf-8")
    part = {"loss": 0.4, "accuracy": 0.5}
    epochs = [{"kind": "epoch", "epoch": n, "train": part, "validation": part, "seconds": 1} for n in (1, 2)]
    end = {"kind": "end", "test": {"accuracy": 0.5, "confusion": [[1, 2], [3, 4]]}}
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*epochs, end]), encoding="utf-8")
    return path


def checkpoint(folder, text):
    path = folder / (IN_A_FILE_NAME if text == HOSTILE else HARMLESS)
    bert_folder(path)
    return open_checkpoint(path).to_html()


PLACES = {
    "count": lambda text, _: algebra.count(SPEC, label=text).to_html(),
    "bridge": lambda text, _: algebra.bridge(algebra.count(SPEC, label=text), algebra.count(SPEC, label="b")).to_html(),
    "shapes": lambda text, _: algebra.shapes(PROGRAM, label=text).to_html(),
    "cost": lambda text, _: algebra.cost(PROGRAM, label=text).to_html(),
    "notation": lambda text, _: algebra.notation(PROGRAM, label=text).to_html(),
    "diagnosis": lambda text, _: diagnose("params", Request(text, SPEC, 1, 3), claim="12345").to_html(),
    "solution": lambda text, _: solution(text),
    "worked problem": lambda text, _: problem(text),
    "sheet of the lab": lambda text, _: exported_sheet(text),
    "run": lambda text, _: a_run(text).to_html(),
    "explanation": lambda text, _: a_run(text).explain("layers.0.attention.mix", t=0, head=0, d_v=1).to_html(),
    "attention": lambda text, _: Attention(a_run(text), (0,), (0, 1)).to_html(),
    "attention page": lambda text, _: attention_page(Attention(a_run(text), (0,), (0, 1))),
    "attention frame": lambda text, _: notebook_html(Attention(a_run(text), (0,), (0, 1))),
    "attention in a report": lambda text, _: attention_section(a_run(text), text).html,
    "certificate": lambda text, _: CertificateView(Certificate(text)).html(),
    "report": lambda text, _: report(text),
    "report of a run": lambda text, folder: page(text, None, [learned_section(read_run(run_folder(folder, text)))]),
    "run in a notebook": lambda text, folder: RunView(run_folder(folder, text)).html(),
    "curves in a notebook": lambda text, folder: Curves((read_run(run_folder(folder, text)).curve,)).to_html(),
    "checkpoint in a notebook": lambda text, folder: checkpoint(folder, text),
    "chart": lambda text, _: Chart(text, text, [Line(text, [(1, 1.0), (2, 2.0)], "red")], marks=[(1, 1.0, text)]).svg(),
    "quiz": lambda text, _: html_page(quiz_page(quiz(text))),
    "key of a quiz": lambda text, _: html_page(key_page(quiz(text))),
    "quiz in a notebook": lambda text, _: quiz(text).to_html(),
    "bank of questions": lambda text, _: "".join(
        entry.question + entry.solution + "".join(entry.hints)
        for _, pool in bank(quiz(text).quiz, [quiz(text)])
        for entry in pool
    ),
    "grades": lambda text, _: present(
        grade(quiz(HARMLESS).quiz, Submissions({text: {"one": text, "two": f"[1, {text}]"}}, [text]))
    ).html(),
    **{f"bench {view}": lambda text, _, view=view: bench(view, text) for view in FORMS},
}


class Skeleton(HTMLParser):
    """The tags of a page and the names of their attributes, without its words."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.words = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *sorted(name for name, _ in attributes)))
        self.words += [value for _, value in attributes if value]

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_is_text_alone(place, tmp_path):
    plain, hostile = (PLACES[place](text, tmp_path) for text in (HARMLESS, HOSTILE))
    assert not set(TURNING) & set(hostile)
    assert "<script>alert" not in hostile and "<img src=x" not in hostile
    assert set(Skeleton(hostile).tags) == set(Skeleton(plain).tags)
    framed = "frame" in place
    words = " ".join(Skeleton(hostile).words)
    assert framed or "alert(1)" in words, "the text is not on the page: this place tests nothing"


def test_markup_that_text_brought_would_be_found():
    assert Skeleton("<p>a</p>").tags != Skeleton("<p><b>a</b></p>").tags
    assert Skeleton("<p>a</p>").tags != Skeleton("<p onclick=x>a</p>").tags


def test_a_name_on_the_command_line_is_text_in_the_report(tmp_path):
    name = IN_A_FILE_NAME[:40]
    bert_folder(tmp_path / name)
    done = glassformer("report", name, "--out", "a.html", "--without", "shapes,equations,checks", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;alert(1)" in text
