"""Generated claims: right ones in many notations are never called wrong, and single slips are found and named."""

import math
import random
from fractions import Fraction

import pytest

from glassformer.answers.documents import check_text

NUMBERS = [2, 3, 4, 5, 8, 12, 16, 64, 128, 512, 768, 1024, 3072, 30_522, 40_000]
BEFORE = [
    "",
    "- Result: ",
    "So ",
    "We get ",
    "1. ",
    "* Total: ",
    "Therefore, ",
    "| x | ",
    "The layer has ",
    "**Step 2:** ",
    "Hence ",
]
AFTER = ["", ".", ", as said.", " parameters", " parameters in all.", " (see above)", "; good"]
PRODUCTS = {"latex": [r" \times ", r" \cdot "], "text": [" x ", " × ", " * ", "×", "*", " · "], "markdown": [" × ", " * ", " x "]}
SEPARATORS = {"latex": [",", "{,}", "", r"\,"], "text": [",", "", "_", "\u2009"], "markdown": [",", ""]}
UNITS = {
    "latex": [r"\text{ heads}", r" \text{ (hidden size)}"],
    "text": [" heads", " (vocabulary)", " dims"],
    "markdown": [" layers", " (width)"],
}
LEFT, RIGHT = r"\begin{bmatrix}", r"\end{bmatrix}"
RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3, "number": 9}


class Writer:
    """Makes random expressions and writes them in one notation."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.style = self.random.choice(list(PRODUCTS))
        self.units = self.random.random() < 0.3

    def tree(self, depth):
        pick = self.random
        kind = pick.random()
        if depth == 0 or kind < 0.25:
            whole = Fraction(pick.choice([*NUMBERS, pick.randint(0, 99_999)]))
            return ("number", whole if pick.random() < 0.7 else Fraction(pick.randint(1, 9_999), pick.choice([10, 100, 1000])))
        if kind < 0.5:
            return ("+", [self.tree(depth - 1) for _ in range(pick.randint(2, 4))])
        if kind < 0.6:
            return ("-", [self.tree(depth - 1), self.tree(depth - 1)])
        if kind < 0.87:
            return ("*", [self.tree(depth - 1) for _ in range(pick.randint(2, 3))])
        if kind < 0.95:
            return ("/", [self.tree(depth - 1), ("number", Fraction(pick.choice([2, 3, 7, 8, 12])))])
        return ("^", [("number", Fraction(pick.randint(2, 20))), ("number", Fraction(pick.randint(2, 4)))])

    def number(self, value):
        places = next(places for places in range(13) if (value * 10**places).denominator == 1)
        whole, rest = divmod(abs(value.numerator) * 10**places // value.denominator, 10**places)
        text = f"{whole:,}".replace(",", self.random.choice(SEPARATORS[self.style]))
        return ("-" if value < 0 else "") + text + (f".{rest:0{places}d}" if places else "")

    def written(self, tree):
        kind, parts = tree
        if kind == "number":
            unit = self.random.choice(UNITS[self.style]) if self.units and self.random.random() < 0.4 else ""
            return self.number(parts) + unit
        if kind == "/" and self.style == "latex" and self.random.random() < 0.6:
            return rf"\frac{{{self.written(parts[0])}}}{{{self.written(parts[1])}}}"
        if kind == "^":
            hat = {"latex": "^{%s}", "text": self.random.choice(["^%s", "**%s"]), "markdown": "^%s"}[self.style]
            return self.number(parts[0][1]) + hat % parts[1][1]
        first = self.within(parts[0], kind, strict=kind == "*")
        rest = [self.within(part, kind, strict=kind != "+") for part in parts[1:]]
        sign = {"+": " + ", "-": self.random.choice([" - ", " − "]), "/": self.random.choice([" / ", "/"])}
        return sign.get(kind, self.random.choice(PRODUCTS[self.style])).join([first, *rest])

    def within(self, tree, outer, *, strict):
        text = self.written(tree)
        bare = RANK[tree[0]] > RANK[outer] or (RANK[tree[0]] == RANK[outer] and not strict)
        if bare:
            return text
        return rf"\left({text}\right)" if self.style == "latex" and self.random.random() < 0.5 else f"({text})"

    def result(self, value):
        """A sign and a number: exact, rounded to some decimals, or in millions."""
        about = r"\approx" if self.style == "latex" else "≈"
        if value.denominator == 1 and self.random.random() < 0.7:
            return "=", self.number(value)
        if value.denominator == 1 and value > 10**6 and self.random.random() < 0.5:
            millions = f"{float(round(value / 10**6, 2)):.2f}"
            return about, millions + (r" \text{ million}" if self.style == "latex" else self.random.choice([" million", "M"]))
        places = self.random.choice([1, 2, 3, 4])
        shown = round(value, places)
        whole = shown.denominator == 1 and shown != value  # a whole number for one that is not says that it is rounded
        return about if whole else self.random.choice(["=", about]), self.number(shown)

    def line(self, left, sign, right):
        body = f"{left} {sign} {right}"
        body = f"${body}$" if self.style == "latex" else f"`{body}`" if self.style == "markdown" and self.units else body
        return self.random.choice(BEFORE) + body + self.random.choice(AFTER)


def value_of(tree):
    kind, parts = tree
    if kind == "number":
        return parts
    values = [value_of(part) for part in parts]
    found = values[0]
    for value in values[1:]:
        found = {"+": found + value, "-": found - value, "*": found * value}.get(kind) or (
            found / value if kind == "/" else found**value.numerator if kind == "^" else Fraction(0)
        )
    return found


def right_line(seed):
    writer = Writer(seed)
    while True:
        tree = writer.tree(writer.random.randint(1, 3))
        if tree[0] != "number" and abs(value_of(tree)) < 10**15:
            return writer.line(writer.written(tree), *writer.result(value_of(tree)))


def right_document(seed):
    """Right claims that build on one another: items, their total, a product of it, a table, and lines of all notations."""
    pick = random.Random(seed)
    items = [[pick.choice(NUMBERS) for _ in range(pick.randint(2, 3))] for _ in range(pick.randint(2, 4))]
    values = [math.prod(item) for item in items]
    times = pick.choice([2, 3, 6, 12, 24])
    sign = pick.choice([" × ", " * ", " x "])
    lines = [
        f"- item {chr(97 + place)}: {sign.join(map(str, item))} = {value:,}"
        for place, (item, value) in enumerate(zip(items, values, strict=True))
    ]
    lines += [f"- Total: {sum(values):,}", f"- times {times}: ${sum(values):,} \\times {times} = {sum(values) * times:,}$"]
    lines += ["", "| part | formula | parameters |", "|---|---|---|"]
    lines += [f"| row | {' × '.join(map(str, item))} | {value:,} |" for item, value in zip(items, values, strict=True)]
    lines += ["", *(right_line(pick.randrange(10**9)) for _ in range(3))]
    return "\n\n".join(lines[: len(items) + 2]) + "\n" + "\n".join(lines[len(items) + 2 :])


def accused(seeds):
    """Right claims, one in a document, that are not called right."""
    return [line for line in map(right_line, seeds) if [one.verdict for one in check_text(line).findings] != ["right"]]


def check_right_documents(seeds):
    for seed in seeds:
        text = right_document(seed)
        found = check_text(text)
        assert found.of("wrong") == found.of("carried") == (), text
        assert found.counts["right"] >= 6, text


def test_right_claims_are_called_right():
    assert accused(range(2_500)) == []


def test_right_documents_have_no_errors():
    check_right_documents(range(60))


@pytest.mark.slow
def test_twenty_thousand_right_claims_are_called_right():
    assert accused(range(10_000, 30_000)) == []
    check_right_documents(range(1_000, 1_500))


@pytest.mark.parametrize("seed", range(300))
def test_a_claim_and_the_same_with_another_digit_are_never_both_right(seed):
    writer = Writer(seed)
    tree = writer.tree(2)
    value = value_of(tree)
    if value.denominator != 1 or not 100 <= value < 10**9 or value % 1000 == 0:
        return
    other = int(another(str(value), writer.random))
    left = writer.written(tree)
    right, wrong = (check_text(writer.line(left, "=", writer.number(Fraction(number)))) for number in (value.numerator, other))
    assert right.counts["right"] == 1
    assert wrong.counts["right"] == 0


def exchanged(digits, pick):
    places = [place for place in range(len(digits) - 1) if digits[place] != digits[place + 1] and (place or digits[1] != "0")]
    place = pick.choice(places)
    return digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]


def another(digits, pick):
    place = pick.randrange(len(digits))
    other = pick.choice([digit for digit in "123456789" if digit != digits[place]])
    return digits[:place] + other + digits[place + 1 :]


SLIPS = {
    "digits_exchanged": exchanged,
    "digit_wrong": another,
    "zero_lost": lambda digits, _: digits[:-1] if digits.endswith("0") else "",
    "zero_added": lambda digits, _: digits + "0",
    "sign_slip": lambda digits, _: "-" + digits,
    "thousand": lambda digits, _: digits + "000",
}


@pytest.mark.parametrize("code", SLIPS)
def test_a_single_slip_in_writing_is_found_and_named(code):
    found = 0
    for seed in range(300):
        writer = Writer(seed)
        factors = writer.random.sample(range(11, 999), 3)
        product = factors[0] * factors[1] * factors[2] * (10 if code == "zero_lost" else 1)
        factors += [10] if code == "zero_lost" else []
        wrong = SLIPS[code](str(product), writer.random)
        if not wrong or wrong == str(product) or len(set(str(product))) < 2 or wrong.endswith("000") != (code == "thousand"):
            continue
        line = writer.line(
            writer.random.choice(PRODUCTS[writer.style]).join(map(str, factors)), "=", writer.number(Fraction(int(wrong)))
        )
        (one,) = check_text(line, name="a", kind="md").findings
        assert (one.verdict, code in one.codes) == ("wrong", True), line
        assert one.due == f"{product:,}"
        found += 1
    assert found > 50


@pytest.mark.parametrize("code", ["factor_forgotten", "sum_for_product", "term_forgotten", "product_for_sum"])
def test_a_single_slip_in_arithmetic_is_found_and_named(code):
    for seed in range(200):
        writer = Writer(seed)
        one, two, three = writer.random.sample(range(11, 999), 3)
        right, wrong, sign = {
            "factor_forgotten": (one * two * three, one * three, "*"),
            "sum_for_product": (one * two * three, one + two + three, "*"),
            "term_forgotten": (one + two + three, one + two, "+"),
            "product_for_sum": (one + two + three, one * two * three, "+"),
        }[code]
        tree = (sign, [("number", Fraction(part)) for part in (one, two, three)])
        line = writer.line(writer.written(tree), "=", writer.number(Fraction(wrong)))
        (found,) = check_text(line, name="a", kind="md").findings
        assert (found.verdict, found.due) == ("wrong", f"{right:,}"), line
        assert set(found.codes) & {code, "digit_wrong", "digits_exchanged", "zero_lost"}, line


@pytest.mark.parametrize("seed", range(150))
def test_right_functions_and_vectors_are_called_right(seed):
    pick = random.Random(seed)
    one, two = (round(pick.uniform(-3, 3), 2) for _ in range(2))
    places = pick.choice([2, 3, 4])
    weights = [math.exp(one) / (math.exp(one) + math.exp(two)), math.exp(two) / (math.exp(one) + math.exp(two))]
    rows = [[pick.randint(-9, 9) for _ in range(2)] for _ in range(2)]
    vector = [pick.randint(-9, 9) for _ in range(2)]
    product = [sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows]
    mixed = [weights[0] * a + weights[1] * b for a, b in zip(*rows, strict=True)]
    lines = [
        f"softmax([{one}, {two}]) ≈ [{weights[0]:.{places}f}, {weights[1]:.{places}f}]",
        rf"$\frac{{\exp({one})}}{{\exp({one}) + \exp({two})}} \approx {weights[0]:.{places}f}$",
        f"exp({one}) = {math.exp(one):.{places}f}",
        f"√{abs(vector[0]) + 2} = {math.sqrt(abs(vector[0]) + 2):.{places}f}",
        f"{rows[0]} · {vector} = {product[0]}",
        f"{rows} @ {vector} = {product}",
        rf"${LEFT} {rows[0][0]} & {rows[0][1]} \\ {rows[1][0]} & {rows[1][1]} {RIGHT}"
        rf" {LEFT} {vector[0]} \\ {vector[1]} {RIGHT} = {LEFT} {product[0]} \\ {product[1]} {RIGHT}$",
        f"{weights[0]!r} * {rows[0]} + {weights[1]!r} * {rows[1]} ≈ [{mixed[0]:.{places}f}, {mixed[1]:.{places}f}]",
    ]
    for line in lines:
        assert [found.verdict for found in check_text(line, name="a", kind="md").findings] == ["right"], line
