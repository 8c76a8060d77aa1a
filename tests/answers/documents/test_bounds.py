"""Hostile and huge documents: bounded time and memory, and nothing left out without being counted."""

import subprocess
import sys
import time

import pytest

from glassformer.answers.documents import check_text

SIZE = 10_000_000
SECONDS = 5.0
MEGABYTES = 200

HUGE = {
    "right lines": "'1+1=2\\n' * (SIZE // 6)",
    "wrong lines": "'12*12=145\\n' * (SIZE // 10)",
    "wrong softmaxes": "'softmax([1,2,3,4,5,6,7,8])=[1,2,3,4,5,6,7,8]\\n' * (SIZE // 46)",
    "one line": "'1+1=2 ' * (SIZE // 6)",
    "signs": "'=' * SIZE",
    "brackets": "('(' * 9990 + '=1\\n') * (SIZE // 9993)",
    "fences": "'```\\n' * (SIZE // 4)",
    "totals": "'Total: 5\\n' * (SIZE // 9)",
    "open texts": "('\\\\text{' * 3330 + '=3\\n') * (SIZE // 20000)",
    "remarks": "('3 (a b) ' * 2400 + '=3\\n') * (SIZE // 20000)",
    "code": "'```python\\n' + 'x = 1\\n' * (SIZE // 6 - 3)",
    "matrices": "(('[' + ','.join(['[' + ','.join(['1'] * 20) + ']'] * 20) + ']') * 2 + ' = 5\\n') * (SIZE // 1700)",
    "digits": "'1\\n' * (SIZE // 2)",
}

MEASURE = """
import resource, sys, time
from glassformer.answers.documents import check_text
SIZE = {size}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
text = {text}
start = time.process_time()
found = check_text(text, name="a", kind="md")
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time() - start, (most - before) / 1024, sum(found.counts.values()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_ten_megabytes_take_seconds_and_little_memory(name):
    code = MEASURE.format(size=SIZE, text=HUGE[name])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    seconds, megabytes, _ = map(float, done.stdout.split())
    assert seconds < SECONDS
    assert megabytes < MEGABYTES


@pytest.mark.parametrize(
    ("text", "equalities"),
    [("1+1=2\n" * 6_000, 6_000), ("1+1=2 " * 6_000, 6_000), ("=" * 30_000, 30_000), ("```\n" + "1+1=2\n" * 6_000, 6_000)],
)
def test_lines_beyond_the_limits_are_counted(text, equalities):
    found = check_text(text, name="a", kind="md")
    assert sum(found.counts.values()) == equalities
    assert found.counts["wrong"] == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9**9**9**9 = 1", "exponent 387420489 is too large (limit 64)"),
        ("(" * 100_000 + "1" + ")" * 100_000 + " = 1", "a line of 200,005 characters is too long (limit 20,000)"),
        ("(" * 900 + "1" + ")" * 900 + " = 1", "nested more than 50 deep"),
        ("1+" * 1_500 + "1 = 1", "more than 2,000 characters"),
        ("9" * 201 + " = 1", "more than 200 digits"),
        ("[" + "1," * 900 + "1] = 1", "one side is a list and the other a number"),
        ("exp(exp(exp(9))) = 1", "exp of more than 700 is too large"),
    ],
)
def test_a_claim_that_asks_for_too_much_is_refused_in_one_line(text, reason):
    (found,) = check_text(f"first\n\n{text}", name="a", kind="md").findings
    assert (found.line, found.verdict) == (3, "unclear")
    assert reason in found.sentence
    assert len(found.text) < 400


HOSTILE = [
    "1 " * 500_000, "$" * 1_000_000, "\\frac{" * 100_000, "*" * 1_000_000, "_" * 1_000_000, "<a " * 300_000, "[" * 1_000_000,
    "1," * 500_000, "1." * 500_000, "1e" * 500_000, "a_" * 500_000, "\\text{" * 160_000, "http://" * 140_000, "is " * 300_000,
    "- " * 500_000, "> " * 500_000, " " * 1_000_000, "\t" * 1_000_000, "x" * 1_000_000, "'" * 1_000_000, "`" * 1_000_000,
    "0x" * 500_000, "Total: " * 140_000, "Q1 " * 330_000, "a-" * 500_000, "{,}" * 330_000, "1 000 " * 160_000, "😀" * 500_000,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["md", pytest.param("tex", marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_a_line_of_a_megabyte_is_read_in_linear_time(place, kind):
    start = time.process_time()
    for text in (HOSTILE[place], HOSTILE[place] + " = 3", HOSTILE[place][:19_000] + " = 3"):
        check_text(text, name="a", kind=kind)
    assert time.process_time() - start < SECONDS
