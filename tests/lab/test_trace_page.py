"""The trace page in a real browser, used as a person would."""

import math
import re
from urllib.parse import quote

import pytest

import glassformer as gf
from glassformer.lab.pages.trace_models import HOME

WHO = "Tom a été entarté cet été. Who was entarté?"


def read(page, selector: str, text: str) -> None:
    """Wait until `selector` says `text`."""
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)", arg=[selector, text]
    )


def panel_at(page, cell: str) -> None:
    page.wait_for_selector(f'.cell[data-cell="{cell}"]')


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def value_of(page) -> float:
    """The number in the panel, all its digits."""
    return number(page.get_by_test_id("value").get_attribute("title"))


def recomputed(page) -> float:
    """The number computed again from what the panel displays: the terms and the operation."""
    terms = [number(cell.get_attribute("title")) for cell in page.locator(".term-value").all()]
    how = page.locator(".cell-how")
    kind = how.get_attribute("data-kind")
    if kind == "share":
        return number(how.get_attribute("data-own")) / sum(terms)
    return sum(terms) / (number(how.get_attribute("data-by")) if kind == "divided" else 1)


def open_first(page, name: str) -> None:
    """Open the first door among the terms that leads to a cell of `name`."""
    before = page.url
    page.locator(f'.cell .door[aria-label*=": {name}["]').first.click()
    page.wait_for_url(lambda url: url != before)
    page.wait_for_function("name => document.querySelector('.cell')?.dataset.cell.startsWith(name + '[')", arg=name)


def test_the_first_view_has_an_example_and_a_title(page):
    page.goto("/trace")
    read(page, ".attends", "Who attends to Tom")
    assert page.title() == "Trace · Glassformer lab"
    assert page.locator(".chip").all_inner_texts()[:4] == ["Tom", "a", "été", "entarté"]


def test_a_cell_opens_five_levels_down_to_a_weight_and_the_arithmetic_is_right_on_the_way(page):
    page.goto("/trace")
    read(page, ".attends", "Who attends to Tom")
    page.locator(".attends .door").first.click()
    panel_at(page, "layers.0.attention.weights[head=0,t=7,s=0]")
    run = gf.run(HOME / "tom", text=WHO)
    assert value_of(page) == pytest.approx(run["layers.0.attention.weights"][0, 0, 7, 0], abs=1e-12)
    assert recomputed(page) == pytest.approx(value_of(page), abs=1e-9)
    for name in ("layers.0.attention.biased", "layers.0.attention.scores", "layers.0.attention.q", "x", "embeddings.token"):
        open_first(page, name)
        if page.locator(".term-value").count():
            assert recomputed(page) == pytest.approx(value_of(page), abs=1e-9)
    open_first(page, "embeddings.E_token")
    read(page, ".cell-end", "A model parameter, learned or generated. It is not computed from other numbers.")
    found = re.match(r"embeddings\.E_token\[vocab=(\d+),d_model=(\d+)\]", page.locator(".cell").get_attribute("data-cell"))
    assert value_of(page) == pytest.approx(run["embeddings.E_token"][int(found[1]), int(found[2])], abs=1e-15)
    steps = page.get_by_role("navigation", name="trail").locator("button, [aria-current]")
    assert steps.count() == 7
    page.go_back()
    panel_at(page, page.evaluate("new URL(location).searchParams.getAll('at').at(-1)"))
    read(page, ".panel h2", "token [")
    steps.first.click()
    panel_at(page, "layers.0.attention.weights[head=0,t=7,s=0]")


def test_a_weight_of_a_matrix_is_reached_too(page):
    page.goto("/trace?at=" + quote("layers.0.attention.q[t=7,head=0,d_k=3]"))
    panel_at(page, "layers.0.attention.q[t=7,head=0,d_k=3]")
    assert recomputed(page) == pytest.approx(value_of(page), abs=1e-9)
    open_first(page, "layers.0.attention.W_Q")
    read(page, ".cell-end", "A model parameter, learned or generated. It is not computed from other numbers.")


def test_an_edited_number_changes_the_output(page):
    page.goto("/trace?at=" + quote("layers.0.attention.biased[head=0,t=7,s=0]"))
    panel_at(page, "layers.0.attention.biased[head=0,t=7,s=0]")
    page.get_by_role("button", name="change this number").click()
    page.get_by_label("new value").fill("-20")
    page.get_by_role("button", name="set", exact=True).click()
    read(page, "[data-testid=moved]", "The output (layers.0.out) changes by up to")
    read(page, ".attends", "Who attends to entarté")
    read(page, ".cell-value", "−20 was 7.737")
    read(page, ".cell-end", "You set this to −20; without the edit it is 7.737. Every number that depends on it uses −20.")
    page.get_by_role("button", name="difference").click()
    assert "show=difference" in page.url
    page.get_by_role("button", name=re.compile("^undo")).click()
    read(page, ".attends", "Who attends to Tom")
    page.go_back()
    read(page, ".changes", "= −20")


def test_an_ablated_head_changes_the_output(page):
    page.goto("/trace?model=digits&image=3&layer=1&head=2")
    page.wait_for_selector(".classes")
    before = page.get_by_test_id("probability").first.inner_text()
    page.get_by_role("button", name="ablate this head").click()
    read(page, ".changes", "head 2 of layer 1 ablated")
    page.wait_for_function(
        "was => document.querySelector('[data-testid=probability]').textContent.includes('was ' + was)", arg=before
    )
    assert page.get_by_role("button", name="layer 1, head 2, ablated").count() == 1


def test_a_masked_word_gets_no_weight_and_a_swapped_one_another_place(page):
    page.goto("/trace?q=0")
    read(page, ".token-actions", 'Query: "Tom" (position 0)')
    page.get_by_role("button", name="mask this word").click()
    read(page, ".changes", '"Tom" (0) masked')
    page.locator(".chip", has_text="Who").click()
    read(page, ".attends", "Who attends to")
    assert page.locator(".attends b").nth(1).inner_text() != "Tom"
    page.get_by_role("button", name=re.compile("^undo")).click()
    page.get_by_label("swap with").select_option(label="entarté (3)")
    read(page, ".changes", "swapped")
    assert page.locator(".chip").all_inner_texts()[3] == "Who"


def test_a_link_shows_the_same_thing(page):
    address = "/trace?model=words&layer=1&head=3&view=lines&edit=drop%3A0.1&show=before&q=3&at=" + quote(
        "layers.1.attention.scores[head=3,t=3,s=1]"
    )
    page.goto(address)
    panel_at(page, "layers.1.attention.scores[head=3,t=3,s=1]")
    read(page, ".trace-title", "Layer 1, head 3")
    read(page, ".changes", "head 1 of layer 0 ablated")
    page.wait_for_selector(".lines")
    value = value_of(page)
    page.reload()
    panel_at(page, "layers.1.attention.scores[head=3,t=3,s=1]")
    assert value_of(page) == value
    run = gf.knock_out(gf.run(HOME / "words", text="flash wala camera"), layer=0, heads=1).after
    assert value == pytest.approx(run["layers.1.attention.scores"][0, 3, 3, 1], abs=1e-12)


def test_the_slider_walks_through_the_layer_and_a_grid_opens_with_the_keyboard(page):
    page.goto("/trace?model=random")
    page.wait_for_selector(".tensor canvas")
    page.get_by_role("slider", name="step").fill("1")
    read(page, ".tensor figcaption", "q: each row is a token")
    assert "step=attention.q" in page.url
    grid = page.locator(".tensor canvas")
    grid.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    panel_at(page, "layers.0.attention.q[t=1,head=0,d_k=1]")
    page.keyboard.press("Escape")
    page.wait_for_selector(".panel.waiting")


@pytest.mark.parametrize("address", ["/trace", "/trace?model=walk&layer=1&q=8", "/trace?model=words&layer=1"])
def test_the_query_row_and_the_whole_grid_fit_on_one_screen(page, address):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address)
    read(page, ".attends", "attends to")
    page.wait_for_selector(".tensor canvas")
    for selector in (".attends", ".tensor canvas", ".chips", ".step-means"):
        box = page.locator(selector).first.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900


def test_each_step_has_a_plain_name_a_symbol_and_a_line_that_says_what_it_means(page):
    page.goto("/trace?model=walk")
    read(page, ".step-means", "softmax of the scores")
    groups = page.locator(".step-group").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert groups == ["input", "attention", "add & norm", "feed-forward", "add & norm"]
    page.get_by_role("button", name="normalised (x−μ)/σ").first.hover()
    read(page, ".step-means", "shifted and scaled to mean 0 and variance 1")
    page.get_by_role("button", name="mix Σ w·v").focus()
    read(page, ".step-means", "The values, averaged with the weights.")


def test_a_sentence_of_ones_own_and_one_that_cannot_be_read(page):
    page.goto("/trace")
    box = page.get_by_role("textbox", name="sentence")
    box.fill("Léa a été vue à Lyon. Where was Léa vue?")
    box.press("Enter")
    read(page, ".attends", "Where attends to Lyon")
    box.fill("Tom " * 70)
    box.press("Enter")
    read(page, ".fault", "text 0 has 70 tokens, but this model has 64 positions.")
    read(page, ".attends", "Where attends to Lyon")  # the last one that works
    page.go_back()
    page.wait_for_selector(".fault", state="detached")


def test_text_of_users_is_text(page):
    page.goto("/trace?model=random&text=" + quote("<img src=x onerror=alert(1)> <b>b</b>") + "&at=" + quote("<b>x</b>[t=0]"))
    read(page, ".chips", "onerror=alert(1)>")
    read(page, ".panel .fault", "is not a cell")
    assert page.locator("main img, .chips b").count() == 0


def test_an_image_shows_where_its_class_token_looks(page):
    page.goto("/trace?model=digits&image=7")
    read(page, ".looks", "attention of the class token")
    assert page.locator(".patches.over .door").count() == 16
    page.get_by_role("button", name="patch 1,1", exact=True).click()
    read(page, ".looks", "attention of patch 1,1")
    page.locator(".patches.over .door").first.click()
    page.wait_for_selector(".cell")
    assert recomputed(page) == pytest.approx(value_of(page), abs=1e-9)


def test_heads_can_be_compared_and_latex_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/trace?model=random&at=" + quote("layers.0.attention.scores[head=0,t=0,s=1]"))
    page.get_by_role("button", name="compare with another head").click()
    assert page.get_by_label("the same cell in every head").locator("tr").count() == 2
    page.get_by_role("button", name="copy as LaTeX").click()
    page.get_by_role("button", name="copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith(r"\mathrm{scores}\left[0, 0, 1\right] = \frac{")


def test_512_tokens_12_heads_come_in_a_window_and_do_not_freeze(page):
    text = " ".join(f"w{place}" for place in range(512))
    page.goto("/trace?model=random&spec=" + quote("encoder layers=2 d_model=24 heads=12 d_ff=8") + "&text=" + quote(text))
    page.wait_for_selector(".ranges", timeout=60_000)
    read(page, ".ranges", "Showing t 0 to 63 of 512")
    page.get_by_label("later s").click()
    read(page, ".ranges", "Showing s 64 to 127 of 512")
    page.locator(".strip-head").nth(5).click()
    read(page, ".trace-title", "head 5")
    longest = page.evaluate(
        """() => new Promise((done) => { let last = performance.now(), most = 0, left = 30;
        const tick = () => { const now = performance.now(); most = Math.max(most, now - last); last = now;
        left-- ? requestAnimationFrame(tick) : done(most); }; tick(); })"""
    )
    assert longest < 1000


def test_a_real_checkpoint_that_the_lab_was_started_with(browser, lab_with, minilm):
    with lab_with(str(minilm)) as lab:
        made = browser.new_page(base_url=lab.address)
        made.set_default_timeout(60_000)
        made.goto(lab.at(lab.lab.address))
        read(made, ".chips", "river")
        made.wait_for_selector(".strip-head")
        assert made.locator(".strip-head").count() == 72
        made.goto(lab.lab.address + "&at=" + quote("layers.5.attention.weights[head=3,t=2,s=3]"))
        panel_at(made, "layers.5.attention.weights[head=3,t=2,s=3]")
        run = gf.run(minilm, text="A river bank, and a bank that lends money.")
        assert value_of(made) == pytest.approx(run["layers.5.attention.weights"][0, 3, 2, 3], abs=1e-12)
        assert math.isclose(recomputed(made), value_of(made), abs_tol=1e-9)
        made.close()


def test_why_this_class_opens_the_ledger_and_each_line_opens_down_to_arithmetic(page):
    page.goto("/trace?model=walk")
    page.get_by_role("button", name="why negative?").click()
    page.wait_for_selector(".ledger-group")
    parts = [number(one.get_attribute("title")) for one in page.locator(".ledger-group > summary .number").all()]
    value = number(page.locator(".ledger .big-number .door").get_attribute("title"))
    assert sum(parts) == pytest.approx(value, rel=1e-9)
    page.locator(".ledger-group > summary", has_text="layer 1 attention").click()
    page.locator(".ledger-group[open] .door").first.click()
    page.wait_for_selector("[data-line]")
    terms = [number(one.get_attribute("title")) for one in page.locator("[data-line] .term .number").all()]
    assert sum(terms) == pytest.approx(number(page.locator("[data-line] .big-number").get_attribute("title")), rel=1e-9)
    page.locator("[data-line] .term .door").first.click()
    page.wait_for_selector(".cell")
    assert math.isclose(recomputed(page), value_of(page), abs_tol=1e-9)
    page.locator(".trail .door", has_text="What made logits [negative]").click()
    page.get_by_role("button", name="by word instead").click()
    page.wait_for_selector("[data-ledger^=words]")


@pytest.mark.parametrize(
    ("theme", "address"),
    [
        ("light", "/trace?model=walk&at=" + quote("why:head.logits[class=0]")),
        ("light", "/trace?view=lines&edit=mask%3A0&at=" + quote("layers.0.attention.weights[head=0,t=7,s=0]")),
        ("dark", "/trace?model=digits&image=3&edit=drop%3A0.1&at=" + quote("layers.0.attention.q[t=1,head=0,d_k=1]")),
    ],
)
def test_axe_finds_no_serious_fault(page, serious_faults, theme, address):
    page.emulate_media(color_scheme=theme)
    page.goto(address)
    page.wait_for_selector(".cell, .ledger-group")
    page.wait_for_load_state("networkidle")
    assert serious_faults(page) == []


@pytest.mark.parametrize("width", [360, 1024, 1920])
def test_nothing_is_wider_than_the_screen(page, width, fits):
    page.set_viewport_size({"width": width, "height": 800})
    for address in (
        "/trace?at=" + quote("layers.0.attention.weights[head=0,t=7,s=0]"),
        "/trace?model=digits&edit=drop%3A0.1",
        "/trace?model=words&layer=1&view=lines&q=3",
    ):
        page.goto(address)
        page.wait_for_selector(".trace")
        page.wait_for_load_state("networkidle")
        fits(page)


def test_a_decoder_writes_a_text_token_by_token(page):
    page.goto("/trace?model=random&spec=" + "gpt2 d_model=8 heads=2 d_ff=16 layers=2 vocab=12".replace(" ", "%20"))
    heading = page.locator(".next h2")
    assert heading.inner_text() == "Next token after “été”"
    page.get_by_role("button", name="write “").click()
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 7")
    page.get_by_role("button", name="← back").click()
    page.wait_for_function("() => document.querySelector('.next .note').textContent === 'token 6 of 7'")
    assert page.locator(".class-name.taken").count() == 1
