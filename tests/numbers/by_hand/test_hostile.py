"""Any content of a problem file gives a result or one line, never a traceback."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassformer.cli.options import to_json
from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.numbers.by_hand.options import CHOICES
from glassformer.numbers.by_hand.words import COMMON, KEYS
from glassformer.show.work import Worksheet

NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, "1/3", "√2"]))
ODD = st.sampled_from(
    [None, True, "x", "", float("nan"), float("inf"), 1e300, 10**400, {}, [], [[]], {"pick": [1, 9]}, "identity"]
)
SQUARES = st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=2, max_size=2)
MATRICES = st.lists(st.lists(NUMBERS, min_size=1, max_size=3), min_size=1, max_size=3)
WORDS = st.sampled_from(
    [word for choices in CHOICES.values() for word in choices] + ["causal", "sinusoidal", "output", "d_model"]
)
VALUES = st.one_of(
    SQUARES,
    SQUARES,
    SQUARES,
    MATRICES,
    st.lists(NUMBERS, max_size=3),
    NUMBERS,
    WORDS,
    ODD,
    st.lists(SQUARES, min_size=2, max_size=2),
)
STARTS = st.sampled_from(
    [
        {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [0, 1]], "V": [[1, 0], [2, 1]]},
        {"X": [[1, 0], [0, 1]], "W_Q": [[1, 2], [0, 1]], "W_K": [[1, 0], [2, 1]], "W_V": [[1, 0], [2, 1]]},
        {"X": [[1, 2], [3, 4]]},
        {"x": [1, 2]},
        {},
    ]
)


@st.composite
def documents(draw):
    kind = draw(st.sampled_from(sorted(KEYS)))
    keys = sorted({**COMMON, **KEYS[kind]})
    extra = draw(st.dictionaries(st.sampled_from(keys), VALUES, max_size=3))
    return {**draw(STARTS), "kind": kind, **extra}


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(documents(), st.sampled_from(["rows", "columns"]))
def test_a_problem_is_solved_and_shown_or_refused_in_one_line(document, convention):
    try:
        solution = solve(parse_problem({"convention": convention, **document}, "p"))
    except GlassformerError as error:
        assert str(error).startswith("p: ")
        assert "\n" not in str(error)
        return
    sheet = Worksheet(solution)
    assert all(form() for form in (sheet.text, sheet.markdown, sheet.latex, sheet.html))
    assert to_json(solution.to_dict())
    assert Worksheet(solution.rounded(1), 1, solution).text()
