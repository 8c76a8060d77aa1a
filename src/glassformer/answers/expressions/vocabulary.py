"""The signs, commands and words of arithmetic, each with the one sign that the grammar knows it by."""

from __future__ import annotations

from typing import Literal

# Signs of one character. Products keep apart: × between sizes, · and * between numbers or vectors, @ and ⊙ between matrices.
OPERATORS = {
    "+": "+", "-": "-", "−": "-", "﹣": "-", "－": "-", "×": "×", "✕": "×", "✖": "×", "⨯": "×", "*": "*", "∗": "*", "⁎": "*",
    "·": "·", "⋅": "·", "∙": "·", "•": "·", "@": "@", "⊙": "⊙", "∘": "⊙", "/": "/", "÷": "/", "∕": "/", "⁄": "/", "^": "^",
}  # fmt: skip
RELATIONS = {
    "=": "=", "＝": "=", "≈": "≈", "≃": "≈", "≅": "≈", "≐": "≈", "≒": "≈", "→": "→", "⟶": "→", "⇒": "⇒", "⟹": "⇒",
    "∈": "∈", "≡": "=",
}  # fmt: skip
OTHER_RELATIONS = "<>≤≥≠≪≫∝∉⊂⊆≲≳"  # nothing that is checked here, but a wall between two expressions
BRACKETS = {
    "(": "(", ")": ")", "[": "[", "]": "]", "{": "{", "}": "}", "⌊": "⌊", "⌋": "⌋", "⌈": "⌈", "⌉": "⌉", "⟨": "⟨", "⟩": "⟩",
    "（": "(", "）": ")", "［": "[", "］": "]",
}  # fmt: skip
OPENING, CLOSING = "([{⌊⌈⟨", ")]}⌋⌉⟩"
PARTNER = dict(zip(CLOSING, OPENING, strict=True))
SUPERSCRIPTS = {**{sign: str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "-", "⁺": "", "ᵀ": "T"}

CONSTANT_SIGNS: dict[str, tuple[Literal["function", "command", "name"], str]] = {
    "√": ("function", "sqrt"), "ℝ": ("command", "reals"), "∑": ("command", "sum"), "∞": ("name", "∞"), "⊤": ("name", "T"),
}  # fmt: skip

# LaTeX commands: those that are one sign, with its kind; those that only space; those that take a group.
TEX_SIGNS: dict[str, tuple[str, str]] = {
    **{name: ("operator", sign) for name, sign in zip(
        "times cdot ast bullet odot circ div cdotp star".split(), "×·*·⊙⊙/·*", strict=True)},
    **dict.fromkeys("approx simeq cong doteq approxeq sim".split(), ("relation", "≈")),
    **dict.fromkeys("to rightarrow longrightarrow mapsto".split(), ("relation", "→")),
    **dict.fromkeys("Rightarrow implies Longrightarrow".split(), ("relation", "⇒")),
    **dict.fromkeys("equiv triangleq coloneqq".split(), ("relation", "=")),
    "in": ("relation", "∈"), "ni": ("wall", "∉"),
    **dict.fromkeys("le leq ge geq lt gt ne neq ll gg propto leqslant geqslant notin subset".split(), ("wall", "<")),
    **{name: ("open", sign) for name, sign in zip("lfloor lceil langle lbrack lparen".split(), "⌊⌈⟨[(", strict=True)},
    **{name: ("close", sign) for name, sign in zip("rfloor rceil rangle rbrack rparen".split(), "⌋⌉⟩])", strict=True)},
    **dict.fromkeys("dots ldots cdots vdots ddots".split(), ("dots", "…")),
    **dict.fromkeys(("quad", "qquad"), ("wall", "quad")),
    **dict.fromkeys(("top", "intercal"), ("name", "T")), "infty": ("name", "∞"), "prime": ("prime", "'"),
    **{name: ("unknown", name) for name in "pm mp over choose mid vert Vert lvert rvert".split()},
}  # fmt: skip
TEX_SPACES = {
    "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr", "middle",
    "displaystyle", "textstyle", "limits", "nolimits", "thinspace", "enspace", "hfill", "nonumber", "notag", "centering", "item",
    "hline", "noindent", "smallskip", "medskip", "bigskip", "newline", "protect", "boldmath",
}  # fmt: skip
TEX_TEXT = frozenset(
    "text textrm textbf textit textsf texttt mathrm operatorname mbox textnormal mathsf mathit mathtt hbox".split()
)
TEX_STYLES = {"textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "underline"}  # in running text they change nothing
TEX_LETTERS = frozenset("mathbf mathcal boldsymbol bm vec hat tilde bar overline mathfrak widehat widetilde underline".split())
TEX_ACCENTS = frozenset("hat tilde bar widehat widetilde overline".split())  # in a formula they make another name
TEX_PASSED = {"boxed", "underbrace", "overbrace", "cancel", "mathop", "ensuremath", "emph", "fbox", "phantom"}  # the group counts
TEX_SKIPPED = frozenset("label tag ref eqref cite color textcolor hspace vspace url footnotemark".split())  # with its group
TEX_FRACTIONS = {"frac", "dfrac", "tfrac", "cfrac"}
TEX_SUMS = frozenset("sum prod int lim argmax argmin bigcup bigoplus coprod".split())
FORMULAS = frozenset("equation align aligned gather gathered split multline eqnarray alignat math displaymath flalign".split())
MATRICES = {"matrix", "bmatrix", "pmatrix", "Bmatrix", "vmatrix", "smallmatrix", "array"}

FUNCTIONS = {
    "exp": "exp", "ln": "ln", "log": "log", "lg": "log10", "log2": "log2", "log10": "log10", "sqrt": "sqrt", "sin": "sin",
    "cos": "cos", "tan": "tan", "tanh": "tanh", "sigmoid": "sigmoid", "softmax": "softmax", "relu": "relu", "max": "max",
    "min": "min", "sum": "sum", "mean": "mean", "average": "mean", "avg": "mean", "abs": "abs", "floor": "floor", "ceil": "ceil",
    "dot": "dot", "var": "var", "std": "std", "erf": "erf", "gelu": "gelu", "silu": "silu", "swish": "silu",
    "layernorm": "layernorm", "layer_norm": "layernorm", "rmsnorm": "rmsnorm", "rms_norm": "rmsnorm", "variance": "var",
}  # fmt: skip
BARE_FUNCTIONS = frozenset("exp ln log log2 log10 sqrt sin cos tan tanh".split())  # may stand before a number without brackets

GREEK = dict(
    zip(
        "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩϵ",
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega epsilon".split(),
        strict=True,
    )
)
# What a function of a matrix may run along: `softmax(A, rows)`, `mean(X, tokens)`.
AXES = frozenset("rows row columns column cols col keys queries tokens features vertical horizontal".split())
AXIS_KEYS = frozenset(("axis", "dim", "over"))

# Words between numbers.
WORD_OPERATORS = {"times": "×", "plus": "+", "minus": "-"}
WORD_RELATIONS = dict.fromkeys("gives yields makes is are totals".split(), "says") | {"equals": "="}
ABOUT = frozenset("about approximately roughly around nearly almost approx circa ca some just over under".split())
BYTES = {
    "KB": (3, 10), "kB": (3, 10), "MB": (6, 20), "GB": (9, 30), "TB": (12, 40), "KiB": (3, 10), "MiB": (6, 20), "GiB": (9, 30),
    "TiB": (12, 40), "Kbit": (3, 10), "Mbit": (6, 20), "Gbit": (9, 30), "kFLOPs": (3, 10), "MFLOPs": (6, 20), "GFLOPs": (9, 30),
    "TFLOPs": (12, 40), "PFLOPs": (15, 50), "GFLOP": (9, 30), "TFLOP": (12, 40), "MFLOP": (6, 20), "GMACs": (9, 30),
    "MMACs": (6, 20), "kilobytes": (3, 10), "megabytes": (6, 20), "gigabytes": (9, 30), "terabytes": (12, 40),
}  # fmt: skip

# Words after a number that say what it counts, in the language of quantities: they change no value.
COUNTED = frozenset(
    "parameters params weights bytes FLOPs flops MACs macs elements entries numbers features tokens patches heads layers"
    " multiply_adds updates dimensions".split()
)

# Units that turn into one another by a factor that nobody writes down.
CONVERTIBLE = frozenset(
    "s sec secs second seconds ms millisecond milliseconds us min mins minute minutes h hr hrs hour hours day days week"
    " weeks month months year years bit bits byte bytes b token tokens character characters chars word words cent cents"
    " dollar dollars dozen pair pairs percent degree degrees rad radians ns g kg mg ml m cm mm km inch inches epoch epochs"
    " step steps batch batches".split()
) | frozenset(BYTES)

# Words after or before a number that make another number of it.
TURNING = frozenset(
    "twice thrice half halves third thirds double triple quarter square squared cube cubed root roots sum product difference"
    " ratio quotient times plus minus divided multiplied added subtracted add adding subtract subtracting less more fewer"
    " and or of per to between from by each dozen dozens hundred hundreds thousands every another extra remaining mod modulo"
    " over out than percent with without versus vs first last next nth th step question page chapter section figure table"
    " equation".split()
)
# Words after a result that make another number of it.
AFTER = frozenset(
    "more less fewer dozen dozens hundred hundreds thousands percent squared cubed of out mod modulo half times divided"
    " multiplied plus minus to or raised".split()
)
# Words that end an expression and begin something else: `15 + 128K for level = 8`.
LINKING = frozenset("for if when where with at then so since because while but let given as using assuming while whereas".split())
# Words after which an expression begins on its own, whatever stood before.
STARTING = frozenset(
    "is are was be has have had get gets got so thus hence therefore which that we compute calculate obtain giving gives yields"
    " namely ie eg because since as then where if suppose let total totals contains needs requires becomes find".split()
)
