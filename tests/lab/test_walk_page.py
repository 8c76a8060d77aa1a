"""The walk in a real browser: eight scenes, numbers equal to the float64 run, and tasks of a first visit."""

from urllib.parse import quote

import numpy as np
import pytest

from glassformer.lab.pages.trace_models import HOME, bundled
from glassformer.numbers import open_checkpoint, run
from glassformer.numbers.texts import encode
from glassformer.program import build

SENTENCES = [*bundled()["walk"]["examples"], "Unheard-of xylophones, éclairs & 42 cats!"]
SCENES = 8
VALUES = """() => ({
  ids: walk.pieces.map((piece) => piece.id),
  values: Object.fromEntries(Object.entries(walk.values).map(([name, value]) => [name, [...value]])),
})"""


@pytest.fixture(scope="module")
def model():
    from glassformer.files.texts import load_tokenizer

    return open_checkpoint(HOME / "walk"), load_tokenizer(HOME / "walk")


def walked(page):
    page.wait_for_selector(".walk-scene")
    return page.evaluate(VALUES)


@pytest.mark.parametrize("text", SENTENCES)
def test_the_page_computes_in_float32_what_the_run_computes_in_float64(page, model, text):
    page.goto("/walk")
    page.get_by_label("your sentence").fill(text)
    page.wait_for_timeout(200)
    found = walked(page)
    checkpoint, tokenizer = model
    batch = encode(tokenizer, text, checkpoint.spec)
    assert found["ids"] == batch.tokens[0].tolist()
    weights = {name: np.asarray(checkpoint.weights[name], dtype=np.float64) for name in checkpoint.weights}
    expected = run(build(checkpoint.spec, t=len(found["ids"])), weights, {"tokens": batch.tokens})
    assert {"x", "layers.0.attention.scores", "layers.1.attention.weights", "layers.1.out", "head.logits"} <= set(found["values"])
    for name, values in found["values"].items():
        np.testing.assert_allclose(values, expected[name].reshape(-1), rtol=2e-4, atol=2e-4, err_msg=name)


def test_eight_scenes_are_walked_with_the_arrow_keys_and_the_address_holds_the_place(page):
    page.goto("/walk")
    page.wait_for_selector(".walk-scene")
    titles = []
    for _ in range(SCENES):
        titles.append(page.locator(".walk-words h2").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(set(titles)) == SCENES
    assert "scene=8" in page.url
    page.reload()
    page.wait_for_selector(".walk-class")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".walk-depth")


def test_each_scene_opens_a_number_asks_before_it_shows_and_is_accessible(page, serious_faults):
    for scene in range(1, SCENES + 1):
        page.emulate_media(color_scheme="dark" if scene % 2 else "light")
        page.goto(f"/walk?scene={scene}")
        page.wait_for_selector(".walk-scene")
        page.locator(".walk-picture .door").first.click()
        assert "Click a number" not in page.locator(".walk-opened").inner_text()
        said = page.locator(".walk-now [role=status]")
        assert said.inner_text() == ""
        if scene < SCENES:
            page.locator(".walk-options button").first.click()
            assert said.inner_text().startswith(("Yes.", "No: "))
        if scene in (1, 5, SCENES):  # the pictures differ; their buttons, questions and numbers are the same parts
            assert serious_faults(page) == []


def test_a_prediction_is_judged_by_the_run_and_an_answer_can_be_flipped(page):
    """The twin of the first example: "it" looks at the street when that is too wide."""
    page.goto("/walk")
    page.get_by_role("button", name="street").last.click()
    page.get_by_role("button", name="show it above").click()
    page.wait_for_function("() => document.querySelector('.walk-says')?.textContent.startsWith('“it” looks at “street”')")
    page.goto("/walk?scene=8")
    before = page.locator(".walk-class").first.inner_text()
    page.get_by_role("button", name="show me one").click()
    page.wait_for_url("**text=**")
    page.wait_for_function("(before) => document.querySelector('.walk-class')?.innerText !== before", arg=before)
    classes = page.evaluate(
        "[...document.querySelectorAll('.walk-class')].map((one) => Number(one.querySelector('button').innerText))"
    )
    assert classes[1] > 0.5


def test_no_scene_is_wider_than_the_screen_and_nothing_moves_where_less_motion_is_asked_for(page, fits):
    page.emulate_media(reduced_motion="reduce")
    page.goto("/walk")
    for scene in range(1, SCENES + 1):
        page.wait_for_selector(f"[aria-label^='scene {scene} of']")
        for width in (390, 768, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            fits(page)
        assert page.evaluate("document.getAnimations().filter((one) => one.playState === 'running').length") == 0
        page.keyboard.press("ArrowRight")


def test_the_first_page_is_the_walk(page):
    page.goto("/")
    page.wait_for_selector(".walk-scene")
    assert page.title() == "Start · Glassformer lab"


def test_it_looks_at_the_animal_when_tired_and_at_the_street_when_wide(page):
    """No action: the first screen says which word "it" attends to. One edit gives the other answer."""
    page.goto("/")
    page.wait_for_function("() => document.querySelector('.walk-says')?.textContent.startsWith('“it” looks at “animal”')")
    page.get_by_label("your sentence").fill(SENTENCES[0].replace("tired", "wide"))
    page.wait_for_function("() => document.querySelector('.walk-says')?.textContent.startsWith('“it” looks at “street”')")


def test_from_the_walk_to_ones_own_config_takes_three_actions(page):
    page.goto("/")
    page.get_by_role("link", name="Count your own config").click()  # 1
    page.get_by_text("paste a config.json").click()  # 2
    page.get_by_label("config.json", exact=True).fill('{"model_type": "bert", "num_hidden_layers": 2}')  # 3
    page.wait_for_function("() => document.querySelector('[data-testid=total]')?.textContent.length > 0")


def test_the_ffn_parameters_of_bert_base_take_two_actions(page):
    page.goto("/")
    page.get_by_role("link", name="Bench").click()  # 1
    page.get_by_role("button", name="feed-forward").first.click()  # 2
    page.wait_for_function("() => document.querySelector('.panel')?.textContent.includes('4,722,432')")


def test_a_door_keeps_the_sentence(page):
    page.goto("/walk")
    page.get_by_role("link", name="in Trace").click()
    page.wait_for_selector(".trace")
    assert page.get_by_role("button", name="animal").count() > 0


def test_an_empty_text_and_one_that_is_too_long_are_said_in_words(page):
    page.goto("/walk?text=%20")
    page.wait_for_selector(".walk .empty")
    page.goto("/walk?text=" + "word%20" * 90)
    page.wait_for_function("() => document.querySelector('.walk')?.textContent.includes('reads 64 pieces')")


def test_the_first_paint_comes_within_half_a_second(page):
    first = []
    for _ in range(3):
        page.goto("/walk")
        page.wait_for_selector(".walk-scene")
        first.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        page.goto("about:blank")
    assert min(first) < 500


def test_a_word_shows_what_it_looks_at_while_the_mouse_or_the_focus_is_on_it(page):
    page.goto("/walk")
    page.wait_for_selector(".walk-links path")
    said = page.locator(".walk-says")
    first = said.inner_text()
    word = page.get_by_role("button", name="tired", exact=True)
    word.hover()
    page.wait_for_function("() => document.querySelector('.walk-says').textContent.startsWith('“tired” looks at')")
    page.mouse.move(0, 0)
    page.wait_for_function("(first) => document.querySelector('.walk-says').innerText === first", arg=first)
    word.focus()
    page.wait_for_function("() => document.querySelector('.walk-says').textContent.startsWith('“tired” looks at')")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=11**")


def test_what_the_model_does_not_know_is_marked_and_an_empty_box_keeps_the_picture(page):
    page.goto("/walk?text=" + quote("I 🙂 love 猫"))
    page.get_by_text("2 pieces are unknown to this small model").wait_for()
    assert page.locator(".walk-piece.unknown").count() == 2
    page.get_by_label("your sentence").fill("")
    page.get_by_text("Type at least one word. Below: the last sentence.").wait_for()
    assert page.locator(".walk-piece").count() == 4


def test_next_stays_at_its_place_from_scene_to_scene(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/walk")
    button = page.get_by_role("button", name="next →")
    boxes = set()
    for _ in range(SCENES):
        boxes.add(tuple(button.bounding_box().values()))
        page.keyboard.press("ArrowRight")
    assert len(boxes) == 1


def test_a_row_of_scores_becomes_shares_step_by_step(page):
    """q·k, divided by √8, exponentiated, divided by the sum: each column follows from the one before it."""
    page.goto("/walk?scene=5")
    page.wait_for_selector(".walk-rows")
    cells = page.evaluate(
        "[...document.querySelectorAll('.walk-rows tbody tr')].map((row) => [...row.querySelectorAll('td')].slice(0, 4)"
        ".map((cell) => Number(cell.innerText.replace('−', '-'))))"
    )
    dot, score, power, share = np.array(cells).T
    np.testing.assert_allclose(score, dot / np.sqrt(8), atol=0.01)
    np.testing.assert_allclose(power, np.exp(score), rtol=0.02, atol=0.01)
    np.testing.assert_allclose(share, power / (power[0] / share[0]), atol=0.01)
