"""An encoder-decoder in Trace, in a real browser: two rows of tokens, and a target that is stepped through and continued."""

from urllib.parse import quote

import pytest

SPEC = "transformer d_model=8 heads=2 d_ff=16 layers=2 vocab=20"
ADDRESS = f"/trace?model=random&spec={quote(SPEC)}&text={quote('Tom a été entarté')}"


@pytest.fixture
def pair(page):
    page.goto(ADDRESS)
    page.wait_for_selector(".texts-between path")
    return page


def words(page, row):
    return page.locator(f"[data-row={row}] .chip").all_inner_texts()


def test_two_rows_of_tokens_with_cross_attention_between_them(pair):
    assert words(pair, "source") == ["Tom", "a", "été", "entarté"]
    assert words(pair, "target") == ["start", "Tom", "was"]
    assert pair.locator(".texts-between path").count() == 4
    assert pair.locator(".trace-title h2").inner_text() == "Decoder, layer 0, head 0"
    assert "was attends to" in pair.locator(".attends").inner_text()
    pair.get_by_role("button", name="encoder layer 1, head 0").click()
    pair.wait_for_function("() => document.querySelector('.trace-title h2').textContent === 'Encoder, layer 1, head 0'")
    pair.locator("[data-row=source] .chip").nth(3).click()
    pair.wait_for_function("() => document.querySelector('.attends').textContent.startsWith('entarté attends to')")


def test_the_target_is_stepped_through_and_continued(pair):
    heading = pair.locator(".next h2")
    assert heading.inner_text() == "Next token after “was”"
    pair.get_by_role("button", name="← back").click()
    pair.wait_for_function("() => document.querySelector('.next h2').textContent === 'Next token after “Tom”'")
    assert pair.locator(".class-name.taken").inner_text() == "was"
    pair.get_by_role("button", name="next token →").click()
    pair.get_by_role("button", name="write “").click()
    pair.wait_for_function("() => document.querySelectorAll('[data-row=target] .chip').length === 4")
    pair.locator("[data-row=target] .chip").nth(1).click()
    pair.locator(".next button", has_text="take").first.click()
    pair.wait_for_function("() => document.querySelectorAll('[data-row=target] .chip').length === 3")
    assert words(pair, "target")[:2] == ["start", "Tom"]
    assert words(pair, "target")[2] != "was"
    pair.get_by_role("button", name="start again").click()
    pair.wait_for_function("() => document.querySelectorAll('[data-row=target] .chip')[2].textContent === 'was'")


def test_a_beam_shows_what_it_kept_and_opens_it(pair):
    pytest.importorskip("torch")
    pair.get_by_label("beam search").select_option("3")
    pair.wait_for_selector(".beams li")
    assert pair.locator(".beams ol").first.locator("li").count() == 3
    second = pair.locator(".beams ol").first.locator("li button").nth(1)
    said = second.inner_text().split(" ")
    second.click()
    pair.wait_for_function("(count) => document.querySelectorAll('[data-row=target] .chip').length === count", arg=len(said) + 1)
    assert words(pair, "target")[1:] == said


def test_the_page_has_no_serious_faults_and_fits_a_phone(pair, serious_faults, fits):
    assert serious_faults(pair) == []
    pair.set_viewport_size({"width": 390, "height": 844})
    fits(pair)
