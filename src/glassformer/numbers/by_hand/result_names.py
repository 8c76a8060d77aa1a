"""The names of results: every quantity by its name and by its alternative names."""

from __future__ import annotations

from collections.abc import Mapping

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.numbers.by_hand.words import squashed
from glassformer.program import Program, Tensor

# Name -> other names for it.
SYNONYMS: dict[str, str] = {
    "x": "X input inputs embedding embeddings",
    "q": "Q query queries",
    "k": "K key keys",
    "v": "V value values",
    "dot": "dots products product dot_products raw raw_scores qk qkt q_k_t unscaled unscaled_scores",
    "scores": "score scaled scaled_scores logits energy energies alignment attention_scores",
    "masked": "masked_scores",
    "weights": "A weight attention_weights alpha alphas probabilities attention_matrix softmax distribution",
    "heads": "head_outputs z_heads per_head",
    "mix": "head_output z mixed",
    "concat": "concatenated concatenation",
    "attention": "attention_output self_attention multi_head multihead",
    "output": "out result context context_vector y z outputs layer_output encoder_output",
    "mean": "mu average",
    "variance": "var sigma2 sigma_squared",
    "std": "sigma deviation standard_deviation stddev",
    "normalised": "normalized x_hat xhat norm standardised",
    "norm_1": "normalized_1 layer_norm_1 add_norm_1",
    "norm_2": "normalized_2 layer_norm_2 add_norm_2",
    "sum_1": "residual_1 add_1 residual",
    "sum_2": "residual_2 add_2",
    "sum": "residual add",
    "hidden": "z1 pre_activation h",
    "active": "activation activated relu gelu a1",
    "ffn": "feed_forward ffn_output mlp",
    "pe": "table positions positional_encoding position_encoding encoding entries",
    "rms": "root_mean_square",
    "mean_square": "ms",
}


def result_names(program: Program, aliases: Mapping[str, str], output: Tensor | None) -> dict[str, str]:
    """Return name -> tensor, for inputs, results, second names, and `output` if there is one."""
    names = {tensor.name: tensor.name for tensor in program.inputs}
    names |= {step.name: step.name for step in program.steps}
    names |= {name: tensor for name, tensor in aliases.items() if name not in names}
    return names | ({"output": output.name} if output is not None else {})


def resolved_names(
    ask: tuple[str, ...],
    names: Mapping[str, str],
    labels: Mapping[str, tuple[str, ...]],
    missing: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the tensors of requested spellings that are not names; `missing` lists what some of them would need."""
    more: dict[str, str] = {}
    for word in ask:
        if word in names:
            continue
        found = _meant(word, names)
        if found is None:
            raise _unknown(word, names, labels, missing or {})
        more[word] = names[found]
    return more


def _unknown(
    word: str, names: Mapping[str, str], labels: Mapping[str, tuple[str, ...]], missing: Mapping[str, str]
) -> GlassformerError:
    needs = _meant(word, missing)
    if needs is not None:
        return GlassformerError(f"'{shown(word)}' cannot be computed: it needs {missing[needs]}.")
    if any(word in places for places in labels.values()):
        return GlassformerError(f"'{shown(word)}' is a token, not a quantity: query = \"{shown(word)}\" computes its row.")
    return GlassformerError(
        f"'{shown(word)}' is not a result of this problem.{nearest(word, names)} Results: {', '.join(names)}."
    )


def _meant(word: str, names: Mapping[str, str]) -> str | None:
    plain = squashed(word)
    exact = next((name for name in names if squashed(name) == plain), None)
    if exact is not None:
        return exact
    return next((n for n, also in SYNONYMS.items() if n in names and plain in map(squashed, also.split())), None)
