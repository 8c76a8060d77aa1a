"""Random small problems of every kind, and their numbers as text."""

import numpy as np


def numbers(random, *shape):
    """Small whole numbers and tenths, as an exercise has them."""
    whole, tenths = random.integers(-3, 4, size=shape), random.integers(-15, 16, size=shape) / 10
    return np.where(random.random(shape) < 0.5, whole, tenths).tolist()


def one_of(random, *choices):
    return choices[random.integers(len(choices))]


def attention(random):
    t, s, d, v = (int(size) for size in random.integers(2, 4, size=4))
    problem = {"Q": numbers(random, t, d), "K": numbers(random, s, d), "V": numbers(random, s, v)}
    problem |= one_of(random, {}, {"d_model": 8}, {"temperature": 2}, {"padding": [1] * (s - 1) + [0]}, {"scale": "none"})
    return problem | one_of(random, {}, {"mask": "causal"} if t == s else {})


def projected(random):
    t, d = (int(size) for size in random.integers(2, 4, size=2))
    problem = {name: numbers(random, d, d) for name in ("W_Q", "W_K", "W_V")} | {"X": numbers(random, t, d)}
    biases = {"b_Q": numbers(random, d), "b_V": numbers(random, d)}
    problem |= one_of(random, {}, {"query": 2}, {"positions": "sinusoidal"}, biases)
    if "query" not in problem and random.random() < 0.5:
        problem |= {"X": np.transpose(problem["X"]).tolist(), "convention": "columns"}
    return problem


def heads(random):
    problem = {"X": numbers(random, int(random.integers(2, 4)), 4), "heads": one_of(random, 1, 2)}
    problem |= {name: numbers(random, 4, 4) for name in ("W_Q", "W_K", "W_V")}
    return problem | one_of(random, {}, {"W_O": numbers(random, 4, 4)})


def layer(random):
    problem = {"kind": "encoder layer", "X": numbers(random, 2, 4), "norm": one_of(random, "pre", "post")}
    problem |= {name: numbers(random, 4, 4) for name in ("W_Q", "W_K", "W_V", "W_O")}
    problem |= {"W_1": numbers(random, 4, 3), "b_1": numbers(random, 3)}
    return problem | {"W_2": numbers(random, 3, 4), "b_2": numbers(random, 4)}


def norm(random):
    shape = one_of(random, (4,), (2, 4))
    problem = {"kind": one_of(random, "layer_norm", "rms_norm"), "x": numbers(random, *shape)}
    problem |= one_of(random, {}, {"gamma": numbers(random, 4)}, {"residual": numbers(random, *shape)}, {"eps": 0.1})
    if problem["kind"] == "layer_norm":
        problem |= one_of(random, {}, {"variance": "biased"}, {"variance": "unbiased"}, {"beta": numbers(random, 4)})
    return problem


def function(random):
    activation = {"activation": one_of(random, "relu", "gelu", "tanh")}
    maps = {"W_1": numbers(random, 2, 3), "b_1": numbers(random, 3), "W_2": numbers(random, 3, 2)}
    return one_of(
        random,
        {"softmax": numbers(random, 2, 3), "temperature": 2},
        {"softmax": numbers(random, 4)},
        {"kind": "sparsemax", "x": numbers(random, 4)},
        {"kind": "positions", "positions": 3, "d_model": 4},
        {"kind": "positions", "x": numbers(random, 3, 4)},
        {"kind": "rope", "x": numbers(random, 2, 4)},
        {"kind": "linear", "x": numbers(random, 2, 3), "W": numbers(random, 3, 3), "b": numbers(random, 3)},
        {"kind": "ffn", "x": numbers(random, 2, 2), **maps, **activation},
        {"kind": "activation", "x": numbers(random, 4), **activation},
    )


def problem(random):
    return one_of(random, attention, projected, heads, layer, norm, function)(random)


def text(value, digits):
    """The numbers to some decimals, as text."""
    if isinstance(value, list):
        return "[" + ", ".join(text(item, digits) for item in value) + "]"
    return "-inf" if value == -np.inf else f"{value:.{digits}f}"
