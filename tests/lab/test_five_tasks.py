"""Five tasks of a new visitor, counted in actions from the start page: a click, a paste, a choice; waiting does not count."""

import json

import pytest

import glassformer as gf

WRONG = """Hidden size 512, feed-forward width 2048, 6 layers, 8 heads.

- query, key and value matrices: $3 \\times 512 \\times 512 \\times 8 = 6,291,456$ weights
"""


class Visitor:
    """A visitor on the start page, whose actions are counted."""

    def __init__(self, page):
        self.page, self.actions = page, 0
        page.goto("/")
        page.wait_for_selector(".walk-says")

    def click(self, what):
        self.actions += 1
        what.click()

    def link(self, name):
        self.click(self.page.get_by_role("link", name=name).first)

    def paste(self, what, text):
        self.actions += 1
        what.fill(text)

    def reads(self, selector, text):
        self.page.wait_for_function(
            "([selector, text]) => [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text))",
            arg=[selector, text],
        )


@pytest.fixture
def visitor(page):
    return Visitor(page)


def test_the_ffn_parameters_of_bert_base_take_at_most_three_actions(visitor):
    visitor.link("Bench")
    visitor.reads(".diagram", "feed-forward")
    visitor.click(visitor.page.get_by_role("button", name="feed-forward").first)
    visitor.reads(".panel", f"{gf.count('bert-base', only='ffn').total // 12:,} in each of 12 layers")
    assert visitor.actions <= 3


def test_which_word_it_attends_to_takes_at_most_four_actions(visitor):
    visitor.reads(".walk-says", "“it” looks at “animal”")  # no action at all; in Trace, with every number:
    visitor.link("Open this sentence")
    visitor.click(visitor.page.get_by_role("button", name="layer 1, head 0"))
    visitor.click(visitor.page.locator(".chip", has_text="it").first)
    visitor.reads(".attends", "it attends to animal")
    assert visitor.actions <= 4


def test_the_mistake_in_a_pasted_solution_takes_at_most_three_actions(visitor):
    visitor.link("Check my solution")
    visitor.paste(visitor.page.get_by_label("Your solution"), WRONG)
    visitor.reads(".check-name.wrong", "multiplied by the number of heads")
    assert visitor.actions <= 3


def test_from_the_walk_to_ones_own_config_takes_at_most_three_actions(visitor):
    visitor.link("Count your own config")
    visitor.click(visitor.page.get_by_text("paste a config.json"))
    visitor.paste(visitor.page.get_by_label("config.json", exact=True), json.dumps(gf.spec("bert-tiny").to_dict()))
    visitor.reads("[data-testid=total]", f"{gf.count('bert-tiny').total:,}")
    assert visitor.actions <= 3


@pytest.mark.slow
def test_training_digits_and_opening_a_wrong_one_in_trace_takes_at_most_five_actions(browser, lab_with, tmp_path):
    pytest.importorskip("torch")
    with lab_with(runs=tmp_path / "runs") as lab:
        context = browser.new_context(base_url=lab.address)
        page = context.new_page()
        page.set_default_timeout(240_000)
        page.goto(lab.at("/walk"))
        visitor = Visitor(page)
        visitor.link("Train one")
        visitor.click(page.get_by_role("button", name="start", exact=True))
        visitor.click(page.get_by_role("button", name="show its mistakes"))
        visitor.click(page.locator(".worst a").first)
        page.wait_for_selector(".trace-centre canvas")
        assert "image=test" in page.url
        assert visitor.actions <= 5
        context.close()


def test_a_click_is_answered_at_once_and_the_bundle_is_small(page):
    """Compressed, what a browser is sent stays under 400 kB; a scene changes within 150 ms, here with room for a busy machine."""
    import gzip

    from glassformer.lab.server import STATIC

    assert sum(len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir()) < 400_000
    page.goto("/walk")
    page.wait_for_selector(".walk-says")
    slow = """async () => {
      const begun = performance.now();
      document.querySelectorAll(".walk-dot")[4].click();
      while (!document.querySelector(".walk-rows")) await new Promise((done) => requestAnimationFrame(done));
      return performance.now() - begun;
    }"""
    assert page.evaluate(slow) < 600
