"""Untrusted answers: read by our own parser, within limits, never run, and graded the same for everyone."""

import json
import random
import subprocess
import sys
import time
from contextlib import suppress
from fractions import Fraction

import pytest
from audit import watched
from faults.hostile_strings import STRINGS
from faults.mutants import no_hang

from glassformer.answers.documents import check_text
from glassformer.answers.quantities import ask
from glassformer.answers.quiz import load_set, shipped, variant
from glassformer.answers.quiz.quantity import Counted, Shaped
from glassformer.answers.verdicts import check
from glassformer.configs.reading import request
from glassformer.errors import GlassformerError
from glassformer.expressions import evaluate

WORDS = (
    r"1 2 0.5 768 40,000 3.14 1e5 9**9 9^9^9 ^ { } ( ) [ ] + - * / × · = ≈ \times \frac \sqrt \begin{bmatrix} \\ & $"
    r" \text{ exp softmax log ln sqrt x d_k W_Q heads % \% _ _{ ^T | : ; , . ! √ ² ½ … \left \right \in \mathbb{R} <script> ~"
    r" \sum \cdots {,} \, 0x1F ** __ < > != == := ∞ inf nan 0/0 1/0 sqrt(-1) log(0) 10^65 2^-3 e^ e π max( var( tanh( ⌊ ⌋ 5! |x|"
    r" __import__ eval( exec( open( lambda . import os system __class__ f'{ } \def \input \write18 \csname"
).split()
SLOWEST = 0.020
SLOWEST_ANSWER = 2.0


def strange(chance):
    if chance.random() < 0.15:
        return "".join(chr(chance.choice([chance.randrange(32, 127), chance.randrange(1, 0xD7FF)])) for _ in range(40))
    return "".join(chance.choice(WORDS) + chance.choice(["", " "]) for _ in range(chance.randrange(1, 25)))


def judged(texts):
    """How many were answered, and the slowest; whatever is neither an answer nor one line fails."""
    answered, slowest = 0, 0.0
    for text in texts:
        start = time.process_time()
        try:
            evaluate(text)
            answered += 1
        except GlassformerError as error:
            assert "\n" not in str(error)
        spent = time.process_time() - start
        if spent > SLOWEST:  # a pause of the garbage collector is not the parser's: slow strings are tried again
            spent = min(timed(text) for _ in range(4))
            assert spent < SLOWEST, text
        slowest = max(slowest, spent)
    return answered, slowest


def timed(text):
    start = time.process_time()
    with suppress(GlassformerError):
        evaluate(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    ("part", "count"), [(0, 4_000), *(pytest.param(n, 250_000, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_a_strange_expression_is_a_number_or_one_line(part, count, tmp_path, figure):
    chance = random.Random(f"expressions {part}")
    judged(strange(chance) for _ in range(50))
    with watched(tmp_path) as seen:
        answered, slowest = judged(strange(chance) for _ in range(count))
    assert seen == []
    assert answered > count // 500
    figure("Q1", f"part {part}: {count:,} strings, {answered:,} with a value, the slowest {1000 * slowest:.1f} ms, 0 events",
           cases=count, part=f"{part:02}")  # fmt: skip


LANGUAGE = (
    "params flops bytes shape elements growth( solve( complexity( params( layer=0 head=0 without=biases @ bert-tiny t=4 in MiB"
    " d_model heads n L V , ) = ≈ != < >= + - * / ^ 2 768 110M 5% [1, 2] softmax( layernorm( ffn attention W_Q scores weights"
    " dtype=fp16 sqrt("
).split()


@pytest.mark.parametrize("count", [1_500, pytest.param(60_000, marks=pytest.mark.slow)])
def test_a_strange_expression_of_the_language_is_answered_or_refused_in_one_line(count, tmp_path):
    chance = random.Random(f"language {count}")
    asked, answered = request("bert-tiny", t=4), 0
    # What is loaded on first use is loaded now.
    for claim in ("params = 7", "d_k = 128", "shape(Q K^T, Q=2 x 3, K=2 x 3) = 2 x 2"):
        check(claim, asked)
    with watched(tmp_path) as seen:
        for _ in range(count):
            words = [chance.choice(chance.choice([LANGUAGE, LANGUAGE, LANGUAGE, WORDS])) for _ in range(chance.randrange(1, 14))]
            text = chance.choice(["", " "]).join(words)
            start = time.process_time()
            for work in (ask, check):
                try:
                    work(text, asked)
                    answered += 1
                except GlassformerError as error:
                    assert "\n" not in str(error)
            assert time.process_time() - start < SLOWEST_ANSWER, text
    assert seen == []
    assert answered > count // 100


@pytest.mark.parametrize(
    "text",
    [
        "solve(t, solve(t, solve(t, params = 3) = 4) = 5)",
        "growth(growth(growth(flops, t), t), t)",
        "params(layers=2000)",
        "flops(t=" + ", ".join(map(str, range(1, 300))) + ")",
        "solve(d_model, params = 12345678901234567890)",
        "(" * 100 + "params" + ")" * 100,
        "+".join(["params"] * 250),
        "2^params",
        "[" + "params, " * 200 + "1]",
    ],
)
def test_a_greedy_expression_ends_soon(text):
    start = time.process_time()
    with suppress(GlassformerError):
        ask(text, request("bert-tiny"))
    assert time.process_time() - start < 3


ESCAPES = [
    "__import__('os').system('id')",
    "eval('1')",
    "exec('1')",
    "open('/etc/passwd').read()",
    "().__class__.__bases__",
    "(lambda: 1)()",
    "[x for x in (1,)]",
    "f'{1}'",
    "1 if 1 else 2",
    "globals()",
    "vars()",
    "getattr(1,'real')",
    "print(1)",
    "input()",
    "compile('1','','eval')",
    "1;import os",
    "import os",
    "os.system('id')",
    "sys.exit()",
    "quit()",
    "x:=1",
    "*[1]",
    "9**9**9",
    "2**10**9",
    "10^10^10",
    "(9!)!",
    "1" * 201,
    "(" * 51 + "1" + ")" * 51,
    "1e999999",
    "exp(exp(9))",
    "x" * 2001,
    "[" * 60,
    "-" * 1999,
    "1+" * 1000,
    "\\def\\x{\\x\\x}\\x",
    "\\input{/etc/passwd}",
    "\\write18{id}",
    "\\csname x\\endcsname",
    "\\newcommand{\\x}{1}",
    "\\immediate",
    "\\catcode`x=13",
    "\\loop",
    "\\href{x}{y}",
    "\\url{x}",
]


def test_two_hundred_known_escapes_do_nothing(tmp_path, figure):
    made = [*ESCAPES, *(f"{first} + {second}" for first in ESCAPES[:12] for second in ESCAPES[:13])][:200]
    judged(made)
    for text in made:
        check_text(f"{text} = 1", name="a", kind="md")
    with watched(tmp_path) as seen:
        judged(made)
        for text in made:
            check_text(f"{text} = 1", name="a", kind="md")
            check_text(f"$${text} = 1$$", name="a", kind="tex")
    assert (len(made), seen) == (200, [])
    figure("Q1", "200 known escapes: 0 files opened, 0 imports, 0 code run, 0 processes", cases=200)


def test_two_hundred_hostile_formulas_are_read_or_refused_at_once(figure):
    formulas = [text for text in STRINGS if "\\" in text or "$" in text or "{" in text]
    formulas += [f"{one}{other}" for one in formulas for other in formulas[:8]]
    slowest = 0.0
    for text in formulas[:200]:
        start = time.process_time()
        with no_hang(20):
            check_text(f"$${text} = 1$$", name="a", kind="tex")
        slowest = max(slowest, time.process_time() - start)
    assert slowest < 0.5
    figure("Q5", f"200 hostile formulas in a solution, the slowest {1000 * slowest:.0f} ms", cases=200)


MEASURE = """
import sys, time
sys.path.insert(0, {tests!r})
from faults.mutants import peak_megabytes
from glassformer.answers.documents import check_text
before = peak_megabytes()
text = {text}
start = time.process_time()
check_text(text, name="a", kind="md")
print(time.process_time() - start, peak_megabytes() - before)
"""
HUGE = {
    "10 MB of right lines": "'12*12=144\\n' * 1_000_000",
    "10 MB of wrong lines": "'12*12=145\\n' * 1_000_000",
    "10 MB in one line": "'1+1=2 ' * 1_666_666",
    "10 MB of brackets": "('(' * 9990 + '=1\\n') * 1000",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_ten_megabytes_are_graded_in_seconds(name, figure, request):
    code = MEASURE.format(tests=str(request.path.parents[1]), text=HUGE[name])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    assert seconds < 10  # the promise is 5 s; a machine that does other things too gets more
    assert megabytes < 250
    figure("Q2", f"{name}: {seconds:.1f} s, +{megabytes:.0f} MB", part=name)


def test_outputs_of_a_notebook_are_never_read(tmp_path, figure):
    ran = tmp_path / "ran"
    for number in range(40):
        output = STRINGS[number * 7]
        cells = [
            {
                "cell_type": "code",
                "source": f"open({str(ran)!r}, 'w')  # {number}",
                "outputs": [{"data": {"text/html": output, "text/plain": "7 = 8"}}],
            },
            {"cell_type": "markdown", "source": "3 × 4 = 12", "attachments": {"x": {"text/html": output}}},
        ]
        with watched(tmp_path) as seen:
            found = check_text(json.dumps({"cells": cells, "metadata": {"x": output}, "nbformat": 4}), kind="ipynb")
        assert seen == [] or number == 0
        assert found.wrong == 0
        assert found.counts["right"] == 1
    assert not ran.exists()
    figure("Q3", "40 notebooks with code and hostile outputs: no code run, no output graded", cases=40)


# Fair marking -------------------------------------------------------------------------------------------------------------


def equation(chance):
    """A product or sum as people write it, and its value."""
    signs = [" × ", " * ", " · ", "*", " \\times ", " \\cdot "]
    if chance.random() < 0.5:
        factors = [chance.choice([2, 3, 4, 8, 12, 64, 120, 512, 768, 3072]) for _ in range(chance.randint(2, 4))]
        value = 1
        for factor in factors:
            value *= factor
        return chance.choice(signs).join(map(str, factors)), value
    terms = [(chance.randint(1, 900), chance.randint(1, 900)) for _ in range(chance.randint(1, 3))]
    sign = chance.choice(signs)
    return " + ".join(f"{a}{sign}{b}" for a, b in terms), sum(a * b for a, b in terms)


def right_forms(value, chance):
    """The value as people write it: with thousands set apart, as a product, as a fraction of something."""
    divisors = [n for n in (2, 3, 4, 5, 6, 8, 12) if value % n == 0]
    forms = [
        str(value),
        f"{value:,}",
        f"{value:,}".replace(",", "{,}"),
        f"{value}.0",
        f"{2 * value} / 2",
        f"\\frac{{{3 * value}}}{{3}}",
    ]
    forms += [f"{n} × {value // n}" for n in divisors] + [f"{value // n} · {n}" for n in divisors]
    return chance.choice(forms)


def wrong_value(value, chance):
    """A slip: one off, a factor, a digit, a unit; never the value itself."""
    digits = list(str(value))
    place = chance.randrange(len(digits))
    digits[place] = str((int(digits[place]) + chance.randint(1, 9)) % 10)
    slips = [value + 1, value - 1, 2 * value, value * 10, value * 1000, value + 10, int("".join(digits))]
    return next(slip for slip in chance.sample(slips, len(slips)) if slip != value and slip > 0)


def verdict(text):
    found = check_text(text, name="a", kind="md").findings
    return [one.verdict for one in found]


@pytest.mark.parametrize("count", [100, pytest.param(2_000, marks=pytest.mark.slow)])
def test_right_equations_are_right_and_wrong_ones_wrong(count, figure):
    chance, refused, accepted = random.Random(71), [], []
    for _ in range(count):
        left, value = equation(chance)
        right, slip = right_forms(value, chance), wrong_value(value, chance)
        sheet = [f"${left} = {right}$", f"${left} = {slip}$"]
        first, again = ([verdict(line) for line in sheet] for _ in range(2))
        assert first == again
        refused += [sheet[0]] if first[0] != ["right"] else []
        accepted += [sheet[1]] if first[1] != ["wrong"] else []
    assert (refused, accepted) == ([], [])
    figure(
        "Q6",
        f"{count:,} right equations: 0 refused; {count:,} wrong ones: 0 accepted; repeated grading gives the same verdicts",
        cases=count,
    )


def answers_of(key, chance):
    """A right answer to a question of a quiz in some notation, and a wrong one."""
    if isinstance(key, Counted):
        n = key.value
        right = chance.choice(
            [str(n), f"{n:,}", f"{n:_}", f"{n} parameters", f"= {n}", f"2 * {n} / 2", f"{n:,}".replace(",", " ")]
        )
        return right, str(wrong_value(n, chance))
    sizes = [str(size) for size in key.value]
    right = chance.choice([" x ", "×", ", ", " by "]).join(sizes)
    wrong = [*sizes]
    place = chance.randrange(len(wrong))
    wrong[place] = str(int(wrong[place]) + 1)
    return right, " x ".join(wrong)


@pytest.mark.parametrize("count", [100, pytest.param(2_000, marks=pytest.mark.slow)])
def test_right_answers_of_quizzes_are_right_and_wrong_ones_wrong(count, figure):
    chance, done, seed = random.Random(72), 0, 0
    while done < count:
        for name in shipped():
            for item in variant(load_set(name), seed).items:
                if item.options or not isinstance(item.key, Counted | Shaped) or done >= count:
                    continue
                right, wrong = answers_of(item.key, chance)
                first = item.key.judge(right)
                assert first.right, (item.id, item.key.text, right)
                assert first == item.key.judge(right)
                against = item.key.judge(wrong)
                assert not against.right, (item.id, item.key.text, wrong)
                assert against.credit < Fraction(1)
                done += 1
        seed += 1
    figure("Q6", f"{count:,} right answers of quizzes: 0 refused; {count:,} wrong ones: 0 with full marks", cases=count)
