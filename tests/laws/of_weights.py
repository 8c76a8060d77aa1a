"""Laws of the weights: what may be moved, folded or set to nothing without changing what comes out, or with a known change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from laws.cases import Case
from laws.law import EXACT, law
from laws.ways import DOUBLE, PROGRAM, SINGLE, Array, Way, apart, furthest, numbers

from glassformer.spec import ALL_BIASES, EncoderSpec


def with_biases(spec: EncoderSpec, *places: str) -> EncoderSpec:
    return spec.replace(biases=tuple(place for place in ALL_BIASES if spec.bias(place) or place in places))


def a_bias_of_heads(case: Case, change: Callable[[Array], Array]) -> dict[str, Callable[[Array], Array]]:
    """A change of the relative table where its columns are heads: the vectors of disentangled attention belong to all of them."""
    return {} if case.spec.disentangled else {"E_relative": change}


def whole(spec: EncoderSpec) -> EncoderSpec:
    """Whole matrices: where features are in groups, heads and hidden units cannot change places freely."""
    return spec.replace(groups=())


def unnumbered_heads(spec: EncoderSpec) -> EncoderSpec:
    """ALiBi's rate depends on the number of a head, so that its heads cannot change places."""
    return whole(spec).replace(position="none" if spec.alibi else spec.position)


@law(fit=unnumbered_heads)
def permuting_heads_changes_nothing(way: Way, case: Case) -> float:
    """Heads that share keys and values stay together."""
    spec, rng = case.spec, case.rng()
    groups = rng.permutation(spec.key_heads)
    order = np.concatenate([spec.group * group + rng.permutation(spec.group) for group in groups])
    moved = case.changed(
        **{name: lambda w: w[:, order] for name in ("W_Q", "W_QR")},
        **{name: lambda w: w[order] for name in ("b_Q", "b_QR", "W_O")},
        **{name: lambda w: w[:, groups] for name in ("W_K", "W_KR", "W_V")},
        **{name: lambda b: b[groups] for name in ("b_K", "b_KR", "b_V")},
        **a_bias_of_heads(case, lambda w: w[:, order]),
    )
    return furthest(way(case.spec, moved, case.given), way(case.spec, case.weights, case.given))


def with_key_bias(spec: EncoderSpec) -> EncoderSpec:
    """Rotary positions rotate the bias with the key, and relative positions use it: it is no longer the same for all keys."""
    sees = spec.rotary or spec.disentangled
    return with_biases(spec, "k").replace(position="none" if sees else spec.position)


@law(fit=with_key_bias)
def a_key_bias_changes_nothing(way: Way, case: Case) -> float:
    """It adds the same to every score of a row, and softmax does not see that."""
    moved = case.changed(b_K=lambda b: b + case.rng().normal(size=b.shape))
    return furthest(way(case.spec, moved, case.given), way(case.spec, case.weights, case.given))


def with_value_bias(spec: EncoderSpec) -> EncoderSpec:
    """Rotary positions that rotate values also rotate their bias: it is no longer the same for all keys."""
    return whole(with_biases(spec, "v", "output")).replace(rotary_values=False)


@law(fit=with_value_bias)
def a_value_bias_can_be_folded_into_the_output_bias(way: Way, case: Case) -> float:
    """The weights of a row sum to one, so every mix holds the whole bias."""
    folded = case.changed(b_V=np.zeros_like)
    for name in [name for name in folded if name.endswith("attention.b_V")]:
        at = name.removesuffix("b_V")
        whole = np.repeat(case.weights[name], case.spec.group, axis=0)  # for every head that reads it
        folded[at + "b_O"] = folded[at + "b_O"] + np.einsum("hv,hvd->d", whole, folded[at + "W_O"])
    return furthest(way(case.spec, folded, case.given), way(case.spec, case.weights, case.given))


@law(fit=whole)
def permuting_hidden_units_changes_nothing(way: Way, case: Case) -> float:
    order = case.rng().permutation(case.spec.ffn_width)
    last = {name: lambda w: w[..., order] for name in ("W_1", "b_1", "W_3", "b_3")}
    moved = case.changed(**last, W_2=lambda w: w[order])
    return furthest(way(case.spec, moved, case.given), way(case.spec, case.weights, case.given))


def one_norm(spec: EncoderSpec) -> EncoderSpec:
    """Vectors through one norm, and nothing else."""
    return EncoderSpec(
        d_model=max(4, spec.d_model), heads=1, layers=0, embedding_norm=True, norm_kind=spec.norm_kind, final_norm="none",
        eps=1e-12,
    )  # fmt: skip


@law(fit=one_norm, double=1e-11)
def norms_ignore_scale_and_layer_norm_ignores_an_offset(way: Way, case: Case) -> float:
    offset = 10.0 if case.spec.norm_kind == "layer" else 0.0
    moved = case.given.but(inputs=1000 * case.given.inputs + offset)
    return furthest(way(case.spec, case.weights, moved), way(case.spec, case.weights, case.given))


@law(fit=lambda spec: one_norm(spec).replace(norm_kind="rms"), double=0.1, single=0.1, differs=True)
def rms_norm_depends_on_an_offset(way: Way, case: Case) -> float:
    moved = case.given.but(inputs=case.given.inputs + 10)
    return furthest(way(case.spec, case.weights, moved), way(case.spec, case.weights, case.given))


def normed(spec: EncoderSpec, weights: dict[str, Array], name: str, x: Array) -> Array:
    """A norm by its definition, from this file alone."""
    centred = x - x.mean(-1, keepdims=True) if spec.norm_kind == "layer" else x
    root = np.sqrt((centred**2).sum(-1, keepdims=True) / x.shape[-1] + spec.eps)
    return weights[f"{name}.gamma"] * centred / root + weights.get(f"{name}.beta", 0.0)


def with_layers(spec: EncoderSpec) -> EncoderSpec:
    return spec.replace(layers=max(1, spec.layers), block="layer", beside_kernel=None)


@law(fit=with_layers)
def sub_layers_that_output_zero_leave_the_residual_stream_unchanged(way: Way, case: Case) -> float:
    """W_O, W_2 and their biases zero: a layer is the identity in pre-norm, and two norms in post-norm."""
    silent = case.changed(**dict.fromkeys(("W_O", "b_O", "W_2", "b_2"), np.zeros_like))
    hidden = way(case.spec, silent, case.given).tokens
    gaps = []
    for number in range(case.spec.layers):
        at, wanted = f"layers.{case.spec.layer_weights(number)}.", hidden[number]
        if case.spec.norm == "post":
            wanted = normed(case.spec, silent, f"{at}norm_2", normed(case.spec, silent, f"{at}norm_1", wanted))
        gaps.append(apart(hidden[number + 1], wanted))
    return max(gaps)


def bare(spec: EncoderSpec) -> EncoderSpec:
    """The states only. A contact head has a weight for each layer and head, so there is none without layers."""
    return spec.replace(
        head="none", pooler="none", final_norm="none", head_hidden="none", head_norm=False, head_reads="pooled",
        contact_head=False,
    )  # fmt: skip


@law(fit=bare, **EXACT)
def an_encoder_without_layers_returns_the_embeddings(way: Way, case: Case) -> float:
    none = case.spec.replace(layers=0, share_layers=None, layer_cycle=1, beside_kernel=None)
    kept = {name: value for name, value in case.weights.items() if not name.startswith("layers.")}
    return apart(way(none, kept, case.given).tokens[-1], way(case.spec, case.weights, case.given).tokens[0])


def wide_head(spec: EncoderSpec) -> EncoderSpec:
    """One head as wide in its values as all the heads together.

    Its values cannot be rotated: the angle of a feature depends on its place in the head. ALiBi's rate depends on the number of
    heads, and so do the weights of a contact head.
    """
    plain = unnumbered_heads(spec).replace(rotary_values=False, contact_head=False)
    return plain.replace(heads=1, kv_heads=None, d_k=spec.head_k, d_v=spec.heads * spec.head_v)


@law(fit=wide_head)
def a_head_equals_several_heads_with_its_queries_and_keys(way: Way, case: Case) -> float:
    """Values and output in blocks: every block is mixed by the same weights."""
    width = case.spec.head_v
    heads = next(n for n in (3, 2, 1) if width % n == 0)
    many = case.spec.replace(heads=heads, d_v=width // heads)
    cut = case.changed(
        **{name: lambda w: np.repeat(w, heads, axis=1) for name in ("W_Q", "W_K", "W_QR", "W_KR", "W_QG", "W_KG")},
        **{name: lambda b: np.repeat(b, heads, axis=0) for name in ("b_Q", "b_K", "b_QR", "b_KR", "b_QG", "b_KG")},
        **a_bias_of_heads(case, lambda w: np.repeat(w, heads, axis=1)),
        **{name: lambda w: w.reshape(len(w), heads, -1) for name in ("W_V", "W_VG")},
        **{name: lambda b: b.reshape(heads, -1) for name in ("b_V", "b_VG")},
        W_O=lambda w: w.reshape(heads, -1, w.shape[-1]),
    )  # fmt: skip
    return furthest(way(many, cut, case.given), way(case.spec, case.weights, case.given))


def grouped(spec: EncoderSpec) -> EncoderSpec:
    """Two heads of keys and values, each for two heads of queries."""
    heads = {"heads": 4, "kv_heads": 2, "d_k": spec.head_k, "d_v": spec.head_v}
    return whole(with_layers(spec)).replace(**heads, global_attention="none")  # global tokens have no groups of heads


@law(fit=grouped)
def shared_keys_and_values_equal_copies_for_each_head(way: Way, case: Case) -> float:
    """Grouped queries are attention in which neighbouring heads happen to have the same keys and values."""
    group = case.spec.group
    written_out = case.changed(
        **{name: lambda w: np.repeat(w, group, axis=1) for name in ("W_K", "W_KR", "W_V")},
        **{name: lambda b: np.repeat(b, group, axis=0) for name in ("b_K", "b_KR", "b_V")},
    )
    each = case.spec.replace(kv_heads=None)
    return furthest(way(each, written_out, case.given), way(case.spec, case.weights, case.given))


@law(fit=lambda spec: whole(with_layers(spec)), ways=(PROGRAM, DOUBLE, SINGLE))
def one_fused_qkv_matrix_equals_three_matrices(way: Way, case: Case) -> float:
    if way is not PROGRAM:
        attention = way.encoder(case.spec, case.weights).layers["0"].attention  # type: ignore[attr-defined]
        x = attention.qkv.weight.new_tensor(case.rng().normal(size=(2, 4, case.spec.d_model)))
        merged, parted = attention.project(x, x), attention.project(x, x.clone())
        return max(apart(numbers(a), numbers(b)) for a, b in zip(merged, parted, strict=True))
    run = PROGRAM.run(case.spec, case.weights, case.given)
    x, at = run[run.program.step_of["layers.0.attention.q"].inputs[0].name], "layers.0.attention."
    three = [case.weights[f"{at}W_{letter}"].reshape(x.shape[-1], -1) for letter in "QKV"]
    biases = [np.ravel(case.weights.get(f"{at}b_{letter}", np.zeros(w.shape[1]))) for letter, w in zip("QKV", three, strict=True)]
    one = x @ np.concatenate(three, axis=1) + np.concatenate(biases)
    wanted = [run[at + letter].reshape(*x.shape[:2], -1) for letter in "qkv"]
    return apart(one, np.concatenate(wanted, axis=-1))
