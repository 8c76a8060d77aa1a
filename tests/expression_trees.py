"""Random expressions of the language for property tests, as text and as trees."""

from __future__ import annotations

from hypothesis import strategies as st

PARTS = ("attention", "ffn", "qkv", "norms", "biases", "W_Q", "W_O", "embeddings")
MODELS = ("bert-base", "bert-large t=16", "layer d_model=64 heads=4", "vit-b16")
NAMES = ("d_model", "heads", "d_k", "layers", "t", "params", "x")

numbers = st.one_of(
    st.integers(0, 10**9).map(str),
    st.integers(0, 10**9).map("{:,}".format),
    st.decimals(0, 10**4, places=3).map(str),
    st.integers(1, 999).map("{}M".format),
    st.integers(1, 99).map("{}%".format),
    st.integers(1, 99).map("{} MB".format),
)
plain_numbers = st.integers(0, 10**6).map(str)


@st.composite
def quantities(draw: st.DrawFn) -> str:
    """`params(ffn, layer=0) @ bert-base`, of every form."""
    name = draw(st.sampled_from(["params", "flops", "bytes", "shape", "elements", "growth"]))
    inside = draw(st.lists(st.sampled_from(PARTS), max_size=2))
    options = draw(
        st.dictionaries(
            st.sampled_from(["layer", "head", "t", "without", "dtype"]),
            st.sampled_from(["0", "7", "biases", "fp16", "biases+norms", "8, 16"]),
            max_size=2,
        )
    )
    inside += [f"{key}={value}" for key, value in options.items()]
    model = draw(st.sampled_from(["", *(f" @ {model}" for model in MODELS)]))
    return (f"{name}({', '.join(inside)})" if inside else name) + model


leaves = st.one_of(numbers, quantities(), st.sampled_from(NAMES))


def _combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "×", "^"]), inner)
    return st.one_of(
        two.map(lambda three: f"({three[0]}) {three[1]} ({three[2]})"),
        inner.map("-({})".format),
        inner.map("sqrt({})".format),
        st.lists(plain_numbers, min_size=1, max_size=3).map(lambda cells: f"softmax([{', '.join(cells)}])"),
        st.lists(inner, min_size=1, max_size=3).map(lambda cells: f"[{', '.join(f'({cell})' for cell in cells)}]"),
    )


expressions = st.recursive(leaves, _combined, max_leaves=8)
relations = st.tuples(expressions, st.sampled_from(["=", "≈", "<", ">", "<=", ">=", "!="]), expressions).map(" ".join)
