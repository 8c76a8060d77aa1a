"""The train page in a real browser: start, watch, reload, stop, resume, open in Trace, as a person would."""

import re
import shutil
from contextlib import contextmanager

import pytest

from glassformer.lab.runs import EXAMPLE_HOME

pytest.importorskip("torch")
SLOW = 90_000  # milliseconds that a small training may take on a busy machine
PICTURE = "(loss) => document.querySelector(`${loss} canvas`).toDataURL()"
LOSS = ".curves[data-what=loss]"


def points(page):
    """How many places of the curve of the loss are drawn."""
    return page.evaluate("(loss) => Number(document.querySelector(loss)?.dataset.points ?? 0)", LOSS)


def grows(page, beyond, timeout=SLOW):
    found = "([loss, beyond]) => Number(document.querySelector(loss)?.dataset.points ?? 0) > beyond"
    page.wait_for_function(found, arg=[LOSS, beyond], timeout=timeout)


def many(page, selector, number):
    page.wait_for_function("([what, number]) => document.querySelectorAll(what).length === number", arg=[selector, number])


@pytest.fixture(scope="module")
def hall(lab_with, tmp_path_factory):
    with lab_with(runs=tmp_path_factory.mktemp("runs") / "mine") as found:
        yield found


@contextmanager
def opened(browser, hall, path, **options):
    """A page of this module's own lab; fails when a request leaves the machine, or a script raises."""
    context = browser.new_context(base_url=hall.address, viewport={"width": 1280, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    faults: list[str] = []
    page.on("request", lambda request: request.url.startswith((hall.address, "data:", "blob:")) or faults.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: "Content Security Policy" in message.text and faults.append(message.text))
    page.goto(hall.at(path))
    yield page
    context.close()
    assert faults == []


def stands(page, run, state):
    page.wait_for_selector(f".standing[data-run='{run}'][data-state='{state}']", timeout=SLOW)


def test_the_first_view_has_an_example_with_its_turn_and_is_accessible(browser, hall, serious_faults, fits):
    with opened(browser, hall, "/train") as page:
        grows(page, 40)
        page.get_by_text("after epoch 9 the validation loss rose from 0.254").wait_for()
        assert page.title() == "Train · Glassformer lab"
        assert page.locator(".train-images canvas").count() == 5
        page.get_by_text("table of epochs").click()
        assert page.locator(".train-epochs tbody tr").count() == 40
        assert serious_faults(page) == []
        page.get_by_role("button", name="dark theme").click()
        assert serious_faults(page) == []
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)


def test_three_epochs_on_the_digits_grow_a_curve_and_open_in_trace(browser, hall, serious_faults):
    with opened(browser, hall, "/train?data=digits&epochs=3&set-threads=1") as page:
        page.get_by_role("button", name="start", exact=True).dblclick()
        page.wait_for_url(re.compile("run=digits-1"))
        grows(page, 0)
        before, picture = points(page), page.evaluate(PICTURE, LOSS)
        grows(page, before)
        page.wait_for_function(f"([loss, before]) => ({PICTURE})(loss) !== before", arg=[LOSS, picture])
        stands(page, "digits-1", "finished")
        row = page.locator("tr[data-run='digits-1']")
        assert row.locator("td").nth(2).inner_text() == "3/3"
        assert page.locator("tr[data-run]").count() == 1  # two clicks, one run
        assert page.locator(".train-epochs tbody tr").count() == 3
        assert serious_faults(page) == []
        page.get_by_role("button", name="show its mistakes").click()
        mistake = page.locator(".worst a").first
        mistake.wait_for(timeout=SLOW)
        assert serious_faults(page) == []
        assert page.locator(".confusion tbody tr").count() == 10
        predicted = re.search(r"taken for (\d)", mistake.inner_text())[1]
        mistake.click()
        page.wait_for_url(re.compile("image=test"))
        page.wait_for_selector(".trace-centre canvas")
        assert page.locator(".class-name").first.inner_text() == predicted  # Trace computes the same mistake
        page.go_back()
        page.get_by_role("link", name="open in Trace", exact=True).click()
        page.wait_for_url(re.compile("/trace"))
        page.wait_for_selector(".trace-centre canvas")
        assert "digits-1" in page.locator(".trace-controls").inner_text()


def test_a_run_is_found_again_after_a_reload_stopped_and_resumed(browser, hall):
    with opened(browser, hall, "/train?data=digits&epochs=300&layers=1&d_model=16&set-threads=1&set-log_every=2") as page:
        page.get_by_label("name", exact=True).fill("long")
        page.get_by_role("button", name="start", exact=True).click()
        page.wait_for_url(re.compile("run=long"))
        grows(page, 3)
        before = points(page)
        page.reload()
        stands(page, "long", "running")
        grows(page, before)
        page.get_by_role("button", name="stop", exact=True).dblclick()
        stands(page, "long", "stopped")
        said = page.locator(".standing-state").inner_text()
        assert re.match(r"stopped at step \d+ of 23,?700; everything is saved", said)
        epoch = int(page.locator("tr[data-run=long] td").nth(2).inner_text().partition("/")[0])
        resume = page.locator("form.resume")
        resume.get_by_label("epochs").fill("0")
        resume.get_by_role("button", name="resume").click()
        page.get_by_text("epochs=0 is not allowed: a whole number from 1.").wait_for()
        resume.get_by_label("epochs").fill(str(epoch + 1))
        resume.get_by_role("button", name="resume").click()
        stands(page, "long", "finished")
        many(page, ".train-epochs tbody tr", epoch + 1)


def test_a_mistake_of_the_command_is_shown_in_its_own_words(browser, hall):
    with opened(browser, hall, "/train?data=digits&epochs=1&heads=7") as page:
        page.get_by_role("button", name="start", exact=True).click()
        page.locator(".standing-state.fault").get_by_text("heads=7 does not divide d_model=64").wait_for(timeout=SLOW)
        page.locator("input[name=epochs]").fill("x")
        page.get_by_role("button", name="start", exact=True).click()
        page.get_by_text("--epochs x is not allowed: a whole number from 1, or several as in 10,30,50.").wait_for()


def test_several_runs_are_plotted_together_and_the_address_keeps_them(browser, hall):
    for name in ("first", "second"):
        shutil.copytree(EXAMPLE_HOME, hall.lab.runs.root / name)
    with opened(browser, hall, "/train?run=first") as page:
        grows(page, 40)
        page.locator("tr[data-run=second] input").check()
        page.get_by_text("second validation").first.wait_for()
        assert "run=first&run=second" in page.url
        assert page.locator(".curves").first.bounding_box()["y"] < page.locator(".standing").first.bounding_box()["y"]
        page.go_back()
        many(page, ".standing", 1)
        page.goto(f"{hall.address}/train?run=%3Cimg src=x onerror=alert(1)%3E")
        page.get_by_text("there is no run <img src=x onerror=alert(1)> in").wait_for()
        assert page.locator("main img").count() == 0


def test_a_run_is_renamed_archived_and_compared(browser, lab_with, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(EXAMPLE_HOME, tmp_path / "runs" / name)
    with lab_with(runs=tmp_path / "runs") as own, opened(browser, own, "/train?run=one&run=two") as page:
        page.wait_for_selector(".compare tbody tr:nth-child(2)")
        one = page.locator(".standing[data-run=one]")
        one.get_by_role("button", name="rename").click()
        one.get_by_label("title").fill("small rate")
        one.get_by_role("button", name="set", exact=True).click()
        page.wait_for_function("() => document.querySelector('.compare th[scope=row]').textContent.includes('small rate')")
        one.get_by_role("button", name="archive").click()
        page.wait_for_selector("text=show the archive (1)")
        page.locator("tr[data-run=one] input").click()
        many(page, ".train-table tbody tr", 1)
        page.get_by_role("button", name="show the archive (1)").click()
        many(page, ".train-table tbody tr", 2)
        assert (tmp_path / "runs/one/run.json").exists()
