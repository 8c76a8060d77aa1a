"""The by-hand page in a real browser, used as a person would."""

import json
import re

import pytest


def read(page, selector: str, text: str) -> None:
    """Wait until some `selector` says `text`."""
    page.wait_for_function(
        "([selector, text]) => [...document.querySelectorAll(selector)].some((node) => node.textContent.includes(text))",
        arg=[selector, text],
    )


def paste(page, text: str) -> None:
    """Paste into the cell that has the cursor, as from a spreadsheet."""
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text", text);
            const how = {clipboardData: data, bubbles: true, cancelable: true};
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        text,
    )


def test_the_flying_arrows_typed_into_an_empty_sheet_give_0_8044(page):
    page.goto("/hand")
    page.get_by_role("button", name="Empty sheet").click()
    page.get_by_role("table", name="q, 1 × 2").wait_for()
    for name, rows in {"q": [(0, 1)], "k": [(1, 1), (0, -1)], "v": [(1, 1), (-1, -1)]}.items():
        for row, numbers in enumerate(rows, start=1):
            for column, number in enumerate(numbers, start=1):
                page.get_by_label(f"{name} row {row} column {column}", exact=True).fill(str(number))
    read(page, "[data-step=weights] .hand-matrix", "0.8044")
    read(page, "[data-step=weights] .hand-matrix", "0.1956")
    read(page, "[data-step=output] .hand-matrix", "0.6089")
    shared = page.url
    page.goto("/hand")
    page.goto(shared)  # a link shows a friend the same thing
    read(page, "[data-step=weights] .hand-matrix", "0.8044")
    assert page.get_by_label("k row 2 column 2", exact=True).input_value() == "-1"


def test_the_first_view_is_a_worked_example_and_the_page_has_a_title(page):
    page.goto("/hand")
    read(page, "[data-step=weights] .hand-matrix", "0.8044")
    assert page.title() == "By hand · Glassformer lab"


def test_choices_at_the_top_change_every_step_and_the_back_button_undoes_them(page):
    page.goto("/hand")
    read(page, "[data-step=weights] .hand-matrix", "0.8044")
    page.get_by_text("choices:").click()
    page.get_by_role("combobox", name="scale", exact=True).select_option("none")
    read(page, "[data-step=weights] .hand-matrix", "0.8808")
    page.get_by_role("combobox", name="distribution", exact=True).select_option("hardmax")
    page.wait_for_function("() => document.querySelector('[data-step=weights] .hand-matrix td button').textContent === '1'")
    page.go_back()
    read(page, "[data-step=weights] .hand-matrix", "0.8808")
    page.go_back()
    read(page, "[data-step=weights] .hand-matrix", "0.8044")


def test_rows_and_columns_come_and_go_and_a_matrix_can_be_pasted(page):
    page.goto("/hand?example=softmax")
    read(page, "[data-step=output] .hand-matrix", "0.5017")
    page.get_by_label("x row 1 column 1", exact=True).focus()
    paste(page, "1 2; 3 4")
    page.get_by_role("table", name="x, 2 × 2").wait_for()
    page.get_by_label("add a column to x").click()
    page.get_by_role("table", name="x, 2 × 3").wait_for()
    page.get_by_label("remove the last row of x").click()
    page.get_by_role("table", name="x, 1 × 3").wait_for()
    page.get_by_label("x row 1 column 1", exact=True).focus()
    paste(page, "cat\t2\t1\ndog\t1\t0")
    assert page.get_by_label("name of row 2 of x").input_value() == "dog"


def test_every_number_opens_down_to_what_was_typed(page):
    page.goto("/hand")
    page.get_by_role("button", name="weights[flying]: 0.8044").last.click()
    read(page, ".panel h2", "weights[flying]")
    read(page, ".panel", "2.0281 / 2.5212 ≈ 0.8044")
    page.locator(".panel").get_by_role("button", name="0.7071: scores[flying]").first.click()
    read(page, ".panel", "exactly 1/√2")
    page.locator(".panel .cell-numbers").get_by_role("button", name="1: dot[flying]").click()
    read(page, ".panel h2", "dot[flying]")
    page.locator(".panel .cell-numbers").get_by_role("button", name="0: q[1]").click()
    read(page, ".panel", "Given: you entered this number.")
    trail = page.get_by_role("navigation", name="trail")
    trail.get_by_role("button", name="scores[flying]", exact=True).click()
    read(page, ".panel h2", "scores[flying]")


def test_an_open_number_follows_what_is_typed(page):
    page.goto("/hand?at=weights%5Bs%3D0%5D")
    read(page, ".panel", "0.8044")
    page.get_by_label("q row 1 column 2", exact=True).fill("2")
    read(page, ".panel [data-testid=value]", "0.9442")


def test_a_product_that_does_not_fit_stands_after_the_steps_that_do(page):
    page.goto("/hand?example=columns")
    read(page, "[data-step=output] .hand-matrix", "1.8022")
    page.get_by_label("remove the last column of W_K").click()
    read(page, ".hand-misfit", "does not fit")
    assert page.locator("[data-step=q]").count() == 1
    assert page.locator("[data-step=weights]").count() == 0
    assert page.locator(".hand-clash").all_inner_texts() == ["1", "2"]
    assert page.locator(".hand-given.blamed").count() == 2
    page.get_by_label("add a column to W_K").click()
    page.wait_for_selector("[data-step=weights]")
    assert page.locator(".hand-misfit").count() == 0


def test_a_cell_that_is_not_a_number_says_so_and_the_last_work_stays(page):
    page.goto("/hand")
    read(page, "[data-step=weights] .hand-matrix", "0.8044")
    page.get_by_label("q row 1 column 1", exact=True).fill("-")
    read(page, ".fault", "is the text '-'")
    assert page.locator("[data-step=weights]").count() == 1
    page.get_by_label("q row 1 column 1", exact=True).fill("")
    read(page, ".fault", "q, number 1 is empty: enter a number.")
    page.get_by_label("q row 1 column 1", exact=True).fill("-1")
    page.wait_for_function("() => !document.querySelector('.fault')")


def test_work_is_taken_away_in_every_form(page):
    page.goto("/hand")
    read(page, "[data-step=weights] .hand-matrix", "0.8044")
    page.get_by_label("export the whole page").click()
    for form, start in {
        "Markdown": b"## The word",
        "LaTeX": b"\\section*",
        "HTML": b"<!doctype html>",
        "PNG": b"\x89PNG",
    }.items():
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"save the whole page as {form}", exact=True).click()
        assert saved.value.path().read_bytes().startswith(start)
    with page.expect_download() as saved:
        page.get_by_role("button", name="problem file").click()
    assert json.loads(saved.value.path().read_text(encoding="utf-8"))["q"] == [0, 1]
    page.get_by_label("export weights").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="save weights as PNG", exact=True).click()
    assert saved.value.suggested_filename == "flying-vectors-weights.png"
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")


def test_numbers_of_ones_own_get_their_mistake_named(page):
    page.goto("/hand")
    page.get_by_label("your numbers").fill("weights = 0.8808 0.1192")
    page.get_by_role("button", name="check", exact=True).click()
    read(page, ".hand-verdict", "1/√d_k left out")
    page.get_by_text("the correct step").click()
    read(page, ".hand-verdict", "scores[flying] = 1 / √2")


def test_text_from_the_address_is_text(page):
    page.goto("/hand?title=%3Cimg src=x onerror=alert(1)%3E&given=k%3D%3Cb%3Ebold: 1 1; a: 0 -1&at=%3Ci%3E")
    read(page, ".hand-heading h2", "<img src=x onerror=alert(1)>")
    assert page.locator("main img, main b, main i").count() == 0


@pytest.mark.parametrize("name", ["tom", "multi-head", "layer-norm", "positions", "encoder-layer"])
def test_the_examples_are_worked(page, name):
    page.goto(f"/hand?example={name}")
    page.wait_for_selector(".hand-step .katex")
    assert page.locator(".fault, .hand-misfit").count() == 0
    assert page.locator("main").inner_text().count("NaN") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(page, serious_faults, theme):
    page.emulate_media(color_scheme=theme)
    for address in (
        "/hand?at=weights%5Bs%3D0%5D&claim=weights+%3D+0.8808+0.1192",
        "/hand?example=misfit",
        "/hand?example=flying",
    ):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert (address, serious_faults(page)) == (address, [])


@pytest.mark.parametrize("width", [360, 1024, 1920])
def test_no_sheet_is_wider_than_the_screen(page, width, fits):
    page.set_viewport_size({"width": width, "height": 800})
    for address in ("/hand?example=encoder-layer", "/hand?example=multi-head&at=weights%5Bhead%3D0%2Ct%3D0%2Cs%3D0%5D"):
        page.goto(address)
        page.wait_for_selector(".hand-step .katex")
        fits(page)
    assert re.search("head", page.locator(".panel h2").inner_text())


def test_let_me_try_hides_the_values_and_marks_each_cell_separately(page, serious_faults):
    page.goto("/hand")
    page.get_by_role("button", name="let me try").click()
    read(page, ".hand-score", "0 of")
    assert page.locator(".hand-steps").get_by_text("0.7071").count() == 0
    page.get_by_label("weights[flying]").fill("0.80")  # 0.8044 is right: two decimals are enough
    read(page, ".hand-score", "1 of")
    page.get_by_label("weights[arrows]").fill("0.2")
    assert page.get_by_label("weights[arrows]").get_attribute("aria-invalid") == "true"
    page.get_by_label("what went wrong? (weights)").click()
    page.wait_for_selector(".hand-verdict")
    page.get_by_label("show this step: scores").click()
    read(page, "[data-step=scores]", "0.7071")
    assert serious_faults(page) == []
    page.get_by_role("button", name="show all results").click()
    read(page, "[data-step=weights]", "0.8044")


def test_advice_is_something_that_the_page_can_do(page):
    page.goto("/hand?example=misfit")
    read(page, ".hand-misfit", "W_Q transposed, 3 × 2, would fit: click 'transpose' below W_Q.")
    page.get_by_role("button", name="transpose W_Q").click()
    page.wait_for_selector("[data-step=weights]")
    assert page.locator(".hand-misfit").count() == 0
    page.go_back()
    read(page, ".hand-misfit", "does not fit")
