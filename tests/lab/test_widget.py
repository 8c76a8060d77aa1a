"""Live views in notebooks: the kernel's side, and the module in a real browser on a plain page with a model that is made up."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.lab import server, widget
from glassformer.lab.widget import live, replied, view_of
from glassformer.lab.wire import plain
from glassformer.numbers.seeded import seeded_run

SPEC = gf.spec("layer", d_model=4, heads=2, d_ff=8, layers=2)


@pytest.fixture(scope="module")
def run():
    return seeded_run(SPEC, words="<b>Tom</b> a été entarté", seed=0)


def test_attention_answers_with_the_weights_of_the_run(run):
    view = view_of(run)
    assert np.allclose(np.reshape(view.first()["weights"], (4, 4)), run["layers.0.attention.weights"][0, 0])
    said, buffers = replied(view, {"id": 3, "ask": "weights", "layer": 1, "head": 1, "row": 1, "column": 0})
    assert said == {"id": 3, "answer": {"shape": [3, 4]}}
    assert np.allclose(np.frombuffer(buffers[0], "<f4").reshape(3, 4), run["layers.1.attention.weights"][0, 1][1:], atol=1e-7)


def test_a_number_opens_down_to_a_weight(run):
    view = view_of(run.explain("layers.0.attention.weights", head=0, t=1, s=2))
    document, seen = view.first(), 0
    assert document["value"] == run["layers.0.attention.weights"][0, 0, 1, 2]
    while document["source"] == "step":
        doors = [part for term in document["terms"] for part in term["parts"] if isinstance(part, dict)]
        deeper = replied(view, {"id": seen, "ask": "cell", "cell": doors[0]["id"]})[0]["answer"]
        assert deeper["value"] == doors[0]["value"]
        document, seen = deeper, seen + 1
    assert seen >= 3


def test_views_need_nothing_of_the_server():
    """`pip install 'glassformer[notebook]'` brings none of it."""
    script = """
import sys
sys.modules |= dict.fromkeys(("starlette", "uvicorn", "anyio"))  # importing them fails
import glassformer as gf
from glassformer.lab.widget import replied, view_of
run = gf.run("bert-tiny", text="the cat sat")
asked = {"ask": "cell", "cell": "layers.0.attention.weights[head=0,t=1,s=2]"}
for what in (run.attention(), run.explain("layers.0.out", t=0, d_model=1), gf.spec("bert-base")):
    view = view_of(what)
    assert view.first()
    print(view.kind, *replied(view, asked)[0])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "attention id answer\ncell id answer\nencoder id error\n"  # a diagram has no cells


def test_a_diagram_lists_the_parameters_of_each_block():
    first = view_of(gf.spec("bert-base")).first()
    assert first["parameters"] == 109_482_240
    counted = {box.name: box.parameters for box in first["diagram"].boxes if box.open is False}
    assert {name: sum(line["count"] for line in lines) for name, lines in first["lines"].items()} == counted


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"ask": "weights", "layer": 9, "head": 0}, "layer 9 is not in this view: it has 0, 1."),
        ({"ask": "weights", "layer": 0, "head": True}, "head True is not in this view"),
        ({"ask": "weights", "layer": 0, "head": 0, "row": -1}, "row=-1 is not allowed"),
        ({"ask": "cell", "cell": "nothing[t=0]"}, "nothing"),
        ({"ask": "cell", "cell": 7}, "'7' is not a cell"),
        ("no question", "layer None is not in this view"),
    ],
)
def test_a_question_that_makes_no_sense_gets_a_line(run, question, words):
    assert words in replied(view_of(run), question)[0]["error"]


def test_objects_without_a_live_view_are_refused(run):
    with pytest.raises(GlassformerError, match="int has no live view"):
        live(7)


def test_without_anywidget_the_static_view_comes_back(run, monkeypatch):
    monkeypatch.setattr(widget, "find_spec", lambda _: None)
    attention = run.attention(layer=0)
    assert gf.live(attention) is attention
    assert "Attention: layer 0" in attention.to_html()


@pytest.mark.skipif(find_spec("anywidget") is None, reason="anywidget is not installed: pip install 'glassformer[notebook]'")
def test_with_anywidget_the_kernel_answers(run, monkeypatch):
    made = live(run)
    sent = []
    monkeypatch.setattr(made, "send", lambda content, buffers=None: sent.append((content, buffers)))
    made._handle_custom_msg({"id": 1, "ask": "weights", "layer": 1, "head": 0, "row": 0, "column": 0}, [])
    assert sent[0][0] == {"id": 1, "answer": {"shape": [4, 4]}}
    assert made.kind == "attention"


PAGE = """
async ([source, kind, first]) => {
  const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
  const module = await import(address);
  const handles = [];
  const model = {
    get: (name) => ({kind, first})[name],
    on: (_, handle) => handles.push(handle),
    off: () => {},
    send: async (question) => {
      const [said, bytes] = await window.kernel(JSON.stringify(question));
      const buffers = bytes === null ? [] : [new DataView(new Uint8Array(bytes).buffer)];
      handles.forEach((handle) => handle(JSON.parse(said), buffers));
    },
  };
  const el = document.createElement("div");
  document.body.append(el);
  module.default.render({model, el});
}
"""


def test_the_module_works_on_a_plain_page_without_network_requests(browser, run, serious_faults):
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    requests, faults, views = [], [], [view_of(run), view_of(run.explain("layers.0.out", t=0, d_model=1)), view_of(SPEC)]
    page.on("request", lambda request: request.url.startswith(("blob:", "about:")) or requests.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))

    def kernel(text):
        said, buffers = replied(views[0], json.loads(text))
        return [json.dumps(said), list(buffers[0]) if buffers else None]

    page.expose_function("kernel", kernel)
    page.set_content("<!doctype html><html lang=en><title>a notebook</title><body><main></main>")
    source = (server.STATIC / "widget.js").read_text(encoding="utf-8")
    for view in views:
        page.evaluate(PAGE, [source, view.kind, json.loads(json.dumps(plain(view.first())))])
    assert page.locator(".glassformer-widget").count() == 3
    assert page.locator(".glassformer-widget b").count() == 0  # a token is text
    page.locator(".widget-choices select").first.select_option("1")
    page.get_by_text("layer 1, head 0: each row is a query").wait_for()
    grid = page.locator(".widget-attention canvas").first
    grid.focus()
    page.keyboard.press("Enter")
    panel = page.locator(".widget-attention .widget-cell")
    value = f"{run['layers.1.attention.weights'][0, 0, 0, 0]:.4g}"
    panel.locator(".big-number").get_by_text(value).wait_for()
    panel.locator("button.door").first.click()
    panel.get_by_role("navigation", name="trail").wait_for()
    page.get_by_role("button", name="feed-forward", exact=False).first.click()
    page.get_by_role("region", name="opened block").get_by_text("W_1").first.wait_for()
    assert serious_faults(page) == []
    assert (requests, faults) == ([], [])
    assert page.evaluate("document.documentElement.dataset.theme ?? 'left alone'") == "left alone"
    context.close()
