"""Hostile texts in every view of the lab: whatever a server could say is shown as text, and nothing of it runs.

The answers of the lab are changed on their way to the page: every text in them that is meant to be read is replaced by a string
of the corpus. So each place of each view has them, also those that no input reaches today. What the server itself does with
hostile inputs is asked in test_hostile_inputs.py.
"""

import json
from itertools import cycle, islice

import pytest
from faults.hostile_strings import STRINGS
from lab.hostile import FEW, QUIET, canary

from glassformer.lab.wire import MAGIC

# Keys whose texts are read by people; the others are names by which page and server speak.
READ = set(
    """
    about answer answer_is assumptions before_tokens claim claims code codes command convention copy corrections derivation doc
    edits error examples exact exactly follows formula given headline hint hints label labels latex left licence line lines made
    message mistakes note notes numbers place result right row_names rows rule said says score sentence sentences shape sizes
    solution summary tags text then title tokens truth version wanted what words about
    """.split()
)
VIEWS = {
    "bench": [
        "/bench?spec=bert-base&at=parameters",
        "/bench?spec=bert-base&tab=shapes&at=cost",
        "/bench?spec=bert-base&tab=cost&at=memory",
        "/bench?spec=bert-base&tab=equations&open=layers&at=layers.0.attention",
        "/bench?spec=bert-base&tab=compare&against=bert-large",
        "/bench?spec=bert-base&heads=7",
    ],
    "trace": [
        "/trace?at=layers.0.attention.weights%5Bhead%3D0,t%3D1,s%3D2%5D",
        "/trace?view=lines&edit=drop:0.0&edit=mask:3&at=layers.0.attention.scores%5Bhead%3D0,t%3D1,s%3D2%5D",
        "/trace?model=digits",
        "/trace?model=words&layer=after",
        "/trace?model=random&layer=in",
        "/trace?model=nothing",
    ],
    "hand": [
        "/hand?at=scores%5Bk%3D0%5D&claim=weights%20%3D%200.5%200.5",
        "/hand?example=encoder-layer",
        "/hand?example=misfit",
        "/hand?example=multi-head&set=heads%3Dx",
    ],
    "check": [
        "/check?open=1!&open=3!&open=5!&open=8!&open=9!&open=12!",
        "/check?tab=claim&shown=answer",
        "/check?tab=claim&claim=params%20of%20bert-base%20%3D%201&shown=answer",
        "/check?tab=quiz&set=worked-head&n=3",
        "/check?tab=quiz&set=worked-head&n=all&did=scores~0~1&did=layer~0~1&q=end",
    ],
    "train": ["/train", "/train?data=nothing", "/train?data=topic&spec=bert-base"],
}


TURNS = 60  # more visits, at most, for strings that no view has shown yet


class Poisoner:
    """Answers with their texts replaced, each by the next string."""

    def __init__(self, strings, start=0):
        self.source = islice(cycle(strings), start, None)
        self.placed = 0

    def text(self, before):
        if before == "":
            return before
        self.placed += 1
        return next(self.source)

    def document(self, value, key=""):
        if key == "parts" and isinstance(value, list) and all(isinstance(one, list) for one in value):
            return [[self.text(text), verdict] for text, verdict in value]  # a line of a solution: texts, verdicts
        if isinstance(value, dict):
            return {name: self.document(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.document(item, key) for item in value]
        return self.text(value) if isinstance(value, str) and key in READ else value

    def __call__(self, route):
        if "/stream" in route.request.url:
            route.continue_()
            return
        answer = route.fetch()
        body = answer.body()
        if body[:4] == MAGIC:
            length = int.from_bytes(body[4:8], "little")
            head = json.dumps(self.document(json.loads(body[8 : 8 + length]))).encode()
            head += b" " * (-(8 + len(head)) % 8)
            body = MAGIC + len(head).to_bytes(4, "little") + head + body[8 + length :]
        elif body:
            body = json.dumps(self.document(json.loads(body))).encode()
        route.fulfill(response=answer, body=body, headers={**answer.headers, "content-length": str(len(body))})


def visited(page, made, address, strings, start):
    """One view with the strings from `start` on; how many texts were replaced."""
    poisoner = Poisoner(strings, start)
    page.unroute_all()
    page.route("**/api/**", poisoner)
    page.goto(address)
    page.wait_for_selector("main h1")
    page.wait_for_function(QUIET)
    page.wait_for_timeout(60)
    page.wait_for_function(QUIET)
    made.look(page, strings, about=address)
    return poisoner.placed


@pytest.mark.parametrize("strings", [FEW, pytest.param(STRINGS, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.parametrize("name", list(VIEWS))
def test_every_string_from_the_server_is_shown_as_text(browser, lab, entered, name, strings, figure):
    views, placed = VIEWS[name][: 2 if strings is FEW else None], 0
    with canary(browser, lab.address, base_url=lab.address, storage_state=entered, service_workers="block") as made:
        page = made.new_page()
        for address in views:
            start = 0
            while start < len(strings):
                found = visited(page, made, address, strings, start)
                assert found > 3, address
                start, placed = start + found, placed + found
        readable = [one for one in strings if one.isprintable() and len(one) > 5]
        # A quiz is sent whole and shows one question: most strings went where nobody reads. Those go again.
        for turn in range(TURNS if strings is STRINGS else 0):
            if unseen := [one for one in readable if one not in made.shown]:
                placed += visited(page, made, views[turn % len(views)], unseen, turn)
    least = (
        0.25 if name == "train" else 0.5 if strings is FEW else 0.8
    )  # Train says most of it in the stream, which comes as it is
    assert len(made.shown) > least * len(readable), len(made.shown)
    figure(
        "W5",
        f"{name}: {len(strings)} strings in {placed:,} places of {len(views)} views, {len(made.shown)} of them found there: "
        "nothing was run, requested or turned into markup",
        cases=len(strings),
        part=f"page {name}",
    )
