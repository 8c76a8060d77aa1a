"""The key in a real browser: where it goes, and what a page without it says."""

import pytest


@pytest.fixture
def stranger(browser, lab):
    """A browser that was never given the key."""
    context = browser.new_context(base_url=lab.address)
    made = context.new_page()
    made.set_default_timeout(15_000)
    yield made
    context.close()


def test_the_printed_address_opens_the_lab_and_hides_its_key(stranger, lab):
    asked = []
    stranger.on("request", lambda request: asked.append(request))
    stranger.goto(lab.at("/bench?spec=bert-base"))
    stranger.wait_for_selector("[data-testid=total]")
    assert stranger.url == f"{lab.address}/bench?spec=bert-base"
    assert not [one.url for one in asked if lab.lab.token in one.url]
    assert stranger.context.cookies() == []


def test_reload_a_new_tab_and_the_first_page_need_no_key_again(stranger, lab):
    stranger.goto(lab.at("/bench?spec=bert-base"))
    stranger.wait_for_selector("[data-testid=total]")
    stranger.reload()
    stranger.wait_for_selector("[data-testid=total]")
    other = stranger.context.new_page()
    other.goto(f"{lab.address}/")
    other.wait_for_selector(".walk-scene")
    assert other.url == f"{lab.address}/walk"


def test_a_page_without_a_key_says_what_to_open(stranger, serious_faults):
    stranger.goto("/bench?spec=bert-base")
    stranger.wait_for_selector("h1")
    assert stranger.inner_text("h1") == "This page has no key to the lab"
    assert "Open the address that the lab printed" in stranger.inner_text("main")
    assert stranger.title() == "no key · Glassformer lab"
    assert serious_faults(stranger) == []


def test_an_address_pasted_over_the_page_lets_it_in(stranger, lab):
    stranger.goto("/bench?spec=bert-base#key=old")
    stranger.wait_for_selector("h1")
    stranger.evaluate("address => { location.href = address }", lab.at("/bench?spec=bert-base"))
    stranger.wait_for_selector("[data-testid=total]")


def test_another_port_of_this_machine_gets_no_key(stranger, lab, lab_with):
    stranger.goto(lab.at("/bench"))
    stranger.wait_for_selector("[data-testid=total]")
    with lab_with() as other:
        asked = []
        stranger.on("request", lambda request: asked.append(request.all_headers()))
        stranger.goto(f"{other.address}/bench")
        stranger.wait_for_selector("h1")
        assert stranger.inner_text("h1") == "This page has no key to the lab"
        assert asked and not [headers for headers in asked if lab.lab.token in str(headers)]
