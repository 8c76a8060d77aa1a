"""Results, runs and specs all render through the same mechanism."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from tiny_run import tiny

import glassformer as gf
from glassformer.numbers.experiments import CLAIMS
from glassformer.spec.viewed import Viewed

PROBLEM = {"q": [0, 1], "k": {"<u>flying</u>": [1, 1], "arrows": [0, -1]}, "v": {"<u>flying</u>": [1, 1], "arrows": [-1, -1]}}


def a_run():
    return gf.run("layer", d_model=8, heads=2, d_ff=16, text="Tom a été <u>entarté</u>")


def a_quiz():
    from glassformer.answers.quiz.reading import load_set
    from glassformer.answers.quiz.variant import variant

    return variant(load_set("parameters"), seed=1, student="<u>Ada</u>")


THINGS = {
    "spec": lambda: gf.spec("bert-base"),
    "program": lambda: gf.build("vit-b16"),
    "count": lambda: gf.count("bert-base"),
    "shapes": lambda: gf.shapes("layer"),
    "cost": lambda: gf.cost("layer"),
    "bridge": lambda: gf.bridge("layer", "encoder"),
    "notation": lambda: gf.notation("layer"),
    "latex": lambda: gf.notation("layer", latex=True),
    "run": a_run,
    "padded run": tiny,
    "attention of a head": lambda: a_run().attention(layer=0, head=0),
    "attention": lambda: a_run().attention(),
    "explanation": lambda: a_run().explain("layers.0.attention.mix", t=1, head=0, d_v=2),
    "explanation of a weight": lambda: a_run().explain("layers.0.attention.W_Q", d_model=0, head=0, d_k=1),
    "what if": lambda: gf.knock_out(a_run(), 0, 1),
    "worked": lambda: gf.work(PROBLEM),
    "answer": lambda: gf.ask("shape(weights)", "bert-base", t=5),
    "diagnosis": lambda: gf.check("params", "bert-base", claim="110,592"),
    "formula": lambda: gf.check_formula("Y = W X", {"W": "3x4", "X": "4x2"}),
    "quiz": a_quiz,
    **{f"experiment {name}": lambda name=name: gf.experiment(name) for name in CLAIMS},
}


class Balanced(HTMLParser):
    """Finds elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.faults = [], set(), []
        self.feed(text)
        self.faults += self.open

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.add(tag)
        if tag not in ("img", "source", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # noqa: ARG002
        self.tags.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


@pytest.mark.parametrize("name", THINGS)
def test_a_view_is_one_scoped_fragment(name):
    thing = THINGS[name]()
    assert isinstance(thing, Viewed)
    html = thing.to_html()
    assert thing._repr_html_() == html
    assert html.startswith('<div class="glassformer">')
    outside = re.sub(r'srcdoc="[^"]*"', "", html)  # the interactive page has its own frame
    found = Balanced(outside)
    assert found.faults == []
    assert not re.search(r"\sid=|\son\w+=|https?://(?!www\.w3\.org/2000/svg)|url\(", outside)
    assert "script" not in found.tags and "<u>" not in outside
    for style in re.findall(r"<style>(.*?)</style>", outside):
        for rule in filter(None, style.split("}")):
            for selector in rule.partition("{")[0].split(","):
                assert selector.strip().startswith(".glassformer"), f"{selector} reaches outside"


def test_selectors_are_scoped():
    from glassformer.show.fragment import scoped

    assert scoped("p,.a b{x:1}i{y:2}") == ".glassformer p,.glassformer .a b{x:1}.glassformer i{y:2}"


def test_an_explanation_expands_down_to_inputs_and_weights():
    html = a_run().explain("layers.0.attention.mix", t=1, head=0, d_v=2).to_html()
    assert html.count("<details") >= 20
    assert "(parameter)" in html and "(input)" in html
    assert "&lt;u&gt;entarté&lt;/u&gt;" in html


def test_attention_is_kept_in_a_saved_notebook():
    html = a_run().attention(layer=0).to_html()
    before = html.partition("<details>")[0]
    assert before.count("data:image/png;base64,") == 3  # the scale and two heads


def test_ipython_prints_a_result_as_a_table():
    class Printer:
        said = ""

        def text(self, words):
            self.said += words

    printer = Printer()
    gf.count("layer")._repr_pretty_(printer, False)
    assert printer.said == str(gf.count("layer"))
    assert "W_Q + b_Q" in printer.said


@pytest.mark.parametrize(
    "line",
    [
        "from glassformer.configs.presets import preset; thing = preset('bert-base')",
        "from glassformer.algebra import count; from glassformer.spec import EncoderSpec; thing = count(EncoderSpec())",
        "from glassformer.numbers.seeded import seeded_run; from glassformer.spec import EncoderSpec; "
        "thing = seeded_run(EncoderSpec(d_model=8, heads=2, layers=1), words='a b').attention()",
    ],
)
def test_show_is_imported_when_a_result_is_first_rendered(line):
    code = f"{line}\nimport sys\nassert not any(name.startswith('glassformer.show') for name in sys.modules)\n"
    code += "assert thing._repr_html_().startswith('<div class=\"glassformer\">')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_object_without_a_presentation_is_an_error():
    class Strange(Viewed):
        pass

    with pytest.raises(TypeError, match="Strange has no presentation"):
        Strange().to_html()
