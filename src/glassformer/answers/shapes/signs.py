"""The signs and LaTeX commands that a formula may hold, and what each of them is."""

from __future__ import annotations

GREEK = dict(
    zip(
        "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩϵ",
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega epsilon".split(),
        strict=True,
    )
)
FONTS = frozenset(
    "text textrm textbf textit textsf mathrm mathbf mathit mathsf mathtt mathcal mathbb boldsymbol bm operatorname vec".split()
)
ACCENTS = frozenset("hat tilde bar widehat widetilde overline".split())
SILENT = frozenset(
    "left right big Big bigl bigr Bigl Bigr bigg Bigg biggl biggr Biggl Biggr displaystyle limits nonumber middle".split()
)
SPACES = frozenset(",;:! []()")  # \, \; \: \! and the delimiters of displayed and inline mathematics
LAYOUTS = frozenset("align align* aligned equation equation* gather gather* gathered split".split())
COMMANDS = {
    **dict.fromkeys("cdot times ast star".split(), "*"),
    **dict.fromkeys("odot circ otimes".split(), "⊙"),
    **dict.fromkeys("frac dfrac tfrac".split(), "frac"),
    **dict.fromkeys("dots ldots cdots".split(), "dots"),
    "sqrt": "sqrt",
    "in": "in",
    "quad": "break",
    "qquad": "break",
    "top": "transpose",
}
SIGNS = {
    **dict.fromkeys("@*·∗×⋅•", "*"),
    **dict.fromkeys("⊙∘⊗", "⊙"),
    **dict.fromkeys("-−–", "-"),
    **dict.fromkeys("ᵀ⊤⊺", "transpose"),
    **dict.fromkeys("'′’", "prime"),
    **dict.fromkeys("…⋯", "dots"),
    **{sign: sign for sign in "+/=,;"},
    "√": "sqrt",
    "∈": "in",
    "←": "=",
}
OPENING, CLOSING = "([{", ")]}"
TRANSPOSES = frozenset({"T", "top", "⊤", "ᵀ", "intercal"})
WORDS_BETWEEN = frozenset({"and", "where"})
