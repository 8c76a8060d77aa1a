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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_scene_opens_a_number_asks_for_a_prediction_first_and_is_accessible(page, serious_faults, theme):
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    for scene in range(1, SCENES + 1):
        page.goto(f"/walk?scene={scene}")
        page.wait_for_selector(".walk-scene")
        page.locator(".walk-scene .door").first.click()
        assert "Click a number" not in page.locator(".walk-opened").inner_text()
        said = page.locator(".walk-now [role=status]")
        assert said.inner_text() == ""
        if scene < SCENES:
            page.locator(".walk-options button").first.click()
            assert said.inner_text().startswith(("Yes.", "No: "))
        assert serious_faults(page) == []


def test_a_prediction_is_judged_by_the_run_and_an_answer_can_be_flipped(page):
    """The counterpart of the first example: "it" attends to the street when that is too wide."""
    page.goto("/walk")
    page.get_by_role("button", name="street").last.click()
    page.get_by_role("button", name="show it in the picture").click()
    page.wait_for_function("() => document.querySelector('.walk-says')?.textContent.startsWith('“it” looks at “street”')")
    page.goto("/walk?scene=8")
    before = page.locator(".walk-class").first.inner_text()
    page.get_by_role("button", name="show me one").click()  # "not" becomes another word
    page.wait_for_url("**text=**")
    page.wait_for_function("(before) => document.querySelector('.walk-class')?.innerText !== before", arg=before)
    classes = page.evaluate(
        "[...document.querySelectorAll('.walk-class')].map((one) => Number(one.querySelector('button').innerText))"
    )
    assert classes[1] > 0.5


def test_no_scene_is_wider_than_the_screen_and_reduced_motion_is_respected(page, fits):
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


def test_an_empty_and_an_overlong_text_get_a_message(page):
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


def test_a_word_shows_what_it_attends_to_while_the_mouse_or_the_focus_is_on_it(page):
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


def test_unknown_pieces_are_marked_and_an_empty_box_keeps_the_picture(page):
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
    np.testing.assert_allclose(share, power / power.sum(), atol=0.01)


WORDS = {  # sentence -> the word that each word looks at most, in head 0 of the last layer: what the first scene shows
    "The animal did not cross the street because it was too tired": "animal animal cross cross animal street street because"
    " animal tired tired animal",
    "The animal did not cross the street because it was too wide": "animal animal cross cross animal street street because"
    " street wide wide street",
    "Tom a été entarté cet été": "tom entarté entarté tom été été",
    "यह किताब बहुत अच्छी है": "किताब किताब अच्छी किताब अच्छी",
}


@pytest.mark.parametrize("text", WORDS)
def test_each_word_of_the_examples_looks_at_the_word_that_it_is_about(model, text):
    checkpoint, tokenizer = model
    batch = encode(tokenizer, text, checkpoint.spec)
    pieces = tokenizer.encode(text).tokens
    values = run(build(checkpoint.spec, t=len(pieces)), checkpoint.weights, {"tokens": batch.tokens})
    largest = values["layers.1.attention.weights"][0, 0].argmax(-1)
    assert [pieces[s] for s in largest] == WORDS[text].split()


def test_the_way_through_the_layers_has_a_node_for_each_piece_and_ends_in_the_answer(page):
    page.goto("/walk")
    page.wait_for_selector(".walk-flow text.walk-verdict")
    pieces = page.locator(".walk-piece").count()
    assert page.locator(".walk-flow circle").count() == 3 * pieces
    said = page.locator(".walk-flow text.walk-verdict").text_content()
    shares = page.locator(".walk-class").all_inner_texts()
    label, share = said.split(maxsplit=1)
    assert any(label in line and f"{float(share[:-1]) / 100:.2f}" in line for line in shares)
    page.get_by_role("button", name="play again").click()
    assert page.evaluate("document.getAnimations().length") > 0


def test_without_a_piece_the_answer_is_that_of_the_shorter_sentence(page, model):
    checkpoint, tokenizer = model
    text = SENTENCES[0]
    page.goto("/walk?scene=8")
    page.wait_for_selector(".walk-picture .walk-pieces")
    shown = [float(one) for one in page.locator(".walk-picture .walk-pieces .door").all_inner_texts()]
    ids = encode(tokenizer, text, checkpoint.spec).tokens[0].tolist()
    weights = {name: np.asarray(checkpoint.weights[name], dtype=np.float64) for name in checkpoint.weights}
    expected = []
    for left_out in range(len(ids)):
        shorter = np.array([ids[:left_out] + ids[left_out + 1 :]])
        logits = run(build(checkpoint.spec, t=len(ids) - 1), weights, {"tokens": shorter})["head.logits"].reshape(-1)
        expected.append(float(np.exp(logits[0]) / np.exp(logits).sum()))  # the share of "negative"
    np.testing.assert_allclose(shown, expected, atol=0.0051)
    decisive = tokenizer.encode(text).tokens[int(np.argmin(expected))]
    assert (decisive, min(expected) < 0.5) == ("not", True)
    page.get_by_text("Without “not” the answer would be positive.").wait_for()


def test_a_score_that_is_set_moves_the_bars_and_is_explained_by_the_edit(page):
    page.goto("/walk?scene=5")
    page.get_by_role("button", name="they fall").click()
    before = page.locator(".walk-rows tbody tr").nth(1).inner_text()
    page.get_by_role("slider").fill("10")
    page.wait_for_function("(before) => document.querySelectorAll('.walk-rows tbody tr')[1].innerText !== before", arg=before)
    page.locator(".walk-rows tr.chosen .door").nth(1).click()
    page.get_by_text("You set this score to 10. Without that it is").wait_for()


def test_the_four_steps_of_the_scores_are_played_one_after_the_other(page):
    page.goto("/walk?scene=5")
    page.get_by_role("button", name="play the four steps").click()
    pressed = (
        "() => [...document.querySelectorAll('.walk-rows thead [aria-pressed]')].findIndex((one) => one.ariaPressed === 'true')"
    )
    for step in range(4):
        page.wait_for_function(f"() => ({pressed})() === {step}")


def test_a_word_of_the_visitor_falls_into_pieces(page, model):
    page.goto("/walk?scene=2")
    page.locator(".walk-options button").first.click()
    page.get_by_label("a word", exact=True).fill("uncrossable")
    page.wait_for_function("() => document.querySelectorAll('.walk-tried .walk-piece').length > 1")
    shown = [piece.replace("…", "##") for piece in page.locator(".walk-tried .walk-piece").all_inner_texts()]
    assert shown == model[1].encode("uncrossable").tokens
