"""A loaded page does not move: late content has reserved space, so that clicks hit their target."""

import re

import pytest

WATCH = """
window.moves = [];
new PerformanceObserver((list) => list.getEntries().forEach((move) => window.moves.push(...move.sources.map((source) =>
    [source.node?.textContent?.slice(0, 40) ?? "", source.previousRect.y, source.currentRect.y]))))
  .observe({ type: "layout-shift", buffered: true });
"""
FEW = 4  # pixels: a formula's own box may change with its font
PAGES = {  # an address, and the last thing to arrive there
    "/bench?spec=bert-base&at=layers.0.attention": ".panel .katex",
    "/bench?tab=equations": "[role=tabpanel] .katex",
    "/trace": ".attends .door",
    "/hand?at=weights%5Bs%3D0%5D": ".panel .katex",
    "/train": ".train-images",
    "/check": "main textarea",
}


@pytest.mark.parametrize("address", PAGES)
def test_nothing_moves_under_a_finger(page, address):
    def later(route):
        page.wait_for_timeout(100)
        route.continue_()

    page.route(re.compile(r"woff2|/static/chunk|/api/"), later)
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_selector(PAGES[address])
    page.wait_for_timeout(500)
    moved = [move for move in page.evaluate("window.moves") if abs(move[1] - move[2]) > FEW]
    assert moved == []
