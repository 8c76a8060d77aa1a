"""The check page in a real browser, used as a person would."""

import pytest

from glassformer.lab.pages.check_quiz import drawn

WRONG = """Width 512, 8 heads.

- query, key and value matrices: $3 \\times 512 \\times 512 \\times 8 = 6,291,456$ weights
- feed-forward matrices: $2 \\times 512 \\times 2048 = 2,079,152$
"""


def read(page, selector: str, text: str) -> None:
    """Wait until some `selector` says `text`."""
    page.wait_for_function(
        "([selector, text]) => [...document.querySelectorAll(selector)].some((node) => node.textContent.includes(text))",
        arg=[selector, text],
    )


def test_a_pasted_wrong_solution_names_the_mistake_hint_first_then_the_answer(page):
    page.goto("/check")
    page.get_by_label("Your solution").fill(WRONG)
    read(page, "[data-line='3']", "full-width projections multiplied by the number of heads")
    read(page, "[data-testid=summary]", "2 wrong")
    line = page.locator("[data-line='3']")
    assert "Hint" not in line.inner_text()
    assert "786,432" not in line.inner_text()
    page.get_by_label("hint for line 3").click()
    read(page, "[data-line='3']", "all heads together form one d_model × d_model matrix")
    assert "786,432" not in line.inner_text()
    page.get_by_label("show the correct answer for line 3").click()
    read(page, "[data-line='3']", "Correct: 3 × 512 × 8 × 64 = 786,432")
    page.go_back()
    page.wait_for_function("() => !document.querySelector(\"[data-line='3']\").textContent.includes('786,432')")
    assert page.locator("[data-line='4'] mark.wrong").inner_text().endswith("2,079,152")
    shared = page.url
    page.goto("/bench")
    page.goto(shared)
    read(page, "[data-line='4']", "two digits swapped")


def test_the_first_view_is_an_annotated_example_and_an_empty_page_says_what_to_do(page):
    page.goto("/check")
    read(page, "[data-testid=summary]", "3 right, 3 wrong, 2 carried forward, 0 not understood.")
    assert page.title() == "Check · Glassformer lab"
    page.get_by_role("button", name="shapes: a product in the wrong order").click()
    read(page, ".check-line", "features × features instead of tokens × tokens")
    page.get_by_role("button", name="empty", exact=True).click()
    read(page, ".check-found", "Nothing to check yet")


def test_a_text_too_long_for_an_address_is_still_checked(page):
    page.goto("/check")
    page.get_by_label("Your solution").fill("It is so. " * 1500 + "\n\n$3 \\times 4 = 13$")
    read(page, "[data-testid=summary]", "1 wrong")
    read(page, ".check-given", "too long for the page address")
    assert len(page.url) < 500


def test_a_claim_is_judged_and_the_derivation_comes_on_request(page):
    page.goto("/check?tab=claim")
    box = page.get_by_label("Claim", exact=True)
    box.fill("params @ attention d_model=512 heads=8 = 6553600")
    box.press("Enter")
    read(page, ".verdict", "full-width projections multiplied by the number of heads")
    assert "1,050,624" not in page.locator(".verdict").inner_text()
    page.get_by_role("button", name="show the correct answer").click()
    read(page, ".verdict", "It is 1,050,624")
    box.fill("params @ bert-base = 110M")
    box.press("Enter")
    read(page, ".verdict", "✓ right")
    box.fill("params @ bert-bse = 110M")
    box.press("Enter")
    read(page, ".fault", "is not a preset, and files are not opened here")


def test_a_quiz_of_three_with_one_wrong_answer_says_why(page):
    own = drawn("self-attention", 7, 3)
    page.goto("/check?tab=quiz&set=self-attention&seed=7&n=3")
    read(page, "[data-testid=score]", "no answer yet")
    for item in own.items:
        page.get_by_role("region", name=f"question {item.number}").wait_for()
        wrong = item.number == 2
        letter = next(option.letter for option in item.options if bool(option.code) == wrong)
        page.get_by_role("radio", name=f"{letter})").check()
        page.get_by_role("button", name="check", exact=True).click()
        for hint in item.hints if wrong else ():
            read(page, ".quiz-said", f"Not yet. Hint: {hint}")
            page.get_by_role("button", name="check", exact=True).click()
        verdict = page.get_by_test_id("verdict")
        verdict.wait_for()
        if wrong:
            code = next(option.code for option in item.options if option.letter == letter)
            page.locator(f"[data-testid=verdict] b[title='{code}']").wait_for()
            read(page, "[data-testid=verdict]", f"The answer is {item.key.text}")
        else:
            read(page, "[data-testid=verdict]", "Right. +1")
        verdict.get_by_role("button", name="review" if item.number == 3 else "next question").click()
    read(page, "[data-testid=score]", "Score: 2 of 3 (3 of 3 questions)")
    read(page, ".quiz-review", f"[{next(o.code for o in own.items[1].options if o.code)}]")
    page.reload()
    read(page, "[data-testid=score]", "Score: 2 of 3 (3 of 3 questions)")


def test_hints_are_given_and_an_answer_that_cannot_be_read_costs_nothing(page):
    item = drawn("worked-head", 0, 3).items[0]
    page.goto("/check?tab=quiz&set=worked-head&seed=0&n=3")
    page.get_by_label("answer (").fill("pardon")
    page.get_by_label("answer (").press("Enter")
    read(page, ".quiz-said", "this cannot be read as an answer")
    page.get_by_role("button", name=f"hint ({len(item.hints)} left)").click()
    read(page, ".quiz-said", f"Hint: {item.hints[0]}")
    page.get_by_role("button", name="show the answer").click()
    read(page, "[data-testid=verdict]", f"The answer is {item.key.text}")


def test_text_from_the_page_is_text(page):
    page.goto("/check?text=%3Cimg src=x onerror=alert(1)%3E $3 = 4$")
    read(page, ".check-text", "<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(page, serious_faults, theme):
    page.emulate_media(color_scheme=theme)
    answered = "/check?tab=quiz&set=self-attention&seed=7&n=3&did=permuted~0~B&q=1"
    for address in (
        "/check?open=5!&open=8",
        "/check?tab=claim&shown=answer",
        "/check?tab=quiz&n=3",
        answered,
        answered.replace("q=1", "q=end"),
    ):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert (address, serious_faults(page)) == (address, [])


@pytest.mark.parametrize("width", [360, 1024, 1920])
def test_no_tab_is_wider_than_the_screen(page, width, fits):
    page.set_viewport_size({"width": width, "height": 800})
    for address in ("/check?open=5!", "/check?tab=claim&shown=answer", "/check?tab=quiz&set=encoder-parts"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        fits(page)
