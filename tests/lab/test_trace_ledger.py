"""Why this class? The ledger of a number in Trace, line by line, down to the cells that a line sums over."""

import pytest
from trace_client import Client

from glassformer.lab.pages.trace_ledger import MOST_LINES

TEXT = "The animal did not cross the street because it was too tired."
CLASS = "head.logits[class=0]"


@pytest.fixture(scope="module")
def client():
    return Client()


def ledger(client, address, **fields):
    answer = client.ask("ledger", model="walk", text=TEXT, ledger=address, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("kind", ["why", "words"])
def test_groups_and_their_lines_add_up_to_the_number(client, kind):
    found = ledger(client, f"{kind}:{CLASS}")
    assert sum(group["value"] for group in found["groups"]) == pytest.approx(found["value"], rel=1e-9)
    assert found["total"] + found["remainder"] - found["value"] == pytest.approx(found["gap"], abs=1e-12)
    for group in found["groups"]:
        listed = [line["value"] for line in group["lines"]]
        assert len(listed) <= MOST_LINES and listed == sorted(listed, key=lambda value: -abs(value))
        assert sum(listed) + group["rest"]["sum"] == pytest.approx(group["value"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", ["why", "words"])
def test_each_line_opens_to_coefficients_times_cells_that_open_in_turn(client, kind):
    for group in ledger(client, f"{kind}:{CLASS}")["groups"]:
        row = group["lines"][0]
        line = ledger(client, row["id"])
        assert line["value"] == row["value"]
        products = [term["coefficient"] * term["cell"]["value"] for term in line["terms"]]
        assert sum(products) + line["rest"]["sum"] == pytest.approx(row["value"], rel=1e-9, abs=1e-12)
        cell = line["terms"][0]["cell"]
        assert client.found("cell", model="walk", text=TEXT, cell=cell["id"])["value"] == cell["value"]


def test_a_number_that_was_set_is_a_line_of_the_ledger(client):
    found = ledger(client, f"why:{CLASS}", edits=["layers.1.ffn.out[t=0,d_model=3]=9"])
    (group,) = [group for group in found["groups"] if group["name"].endswith("set")]
    line = ledger(client, group["lines"][0]["id"], edits=["layers.1.ffn.out[t=0,d_model=3]=9"])
    assert [term["cell"]["value"] for term in line["terms"]] == [9]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("head.logits[class=0]", "is not a ledger: write one as why:head.logits[class=0]"),
        ("why:head.logit[class=0]", "Did you mean 'head.logits'"),
        ("why:head.logits[class=9]", "9"),
        ("why:head.logits[class=0]#99999", "this ledger has no line 99999"),
    ],
)
def test_an_invalid_ledger_is_refused(client, address, message):
    assert message in client.refused("ledger", model="walk", text=TEXT, ledger=address)
