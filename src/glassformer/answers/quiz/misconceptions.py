"""Mistakes in ideas rather than in numbers: what a wrong choice in a conceptual question says about its chooser."""

from __future__ import annotations

from collections.abc import Iterable

from glassformer.answers.mistakes.catalogue import CATALOGUE, Mistake
from glassformer.spec import GlassformerError, nearest, shown

_IDEAS = (
    Mistake(
        "another_query",
        "another token's query used",
        "The output at a position is made with that position's own query, compared with the keys of all positions.",
    ),
    Mistake(
        "attention_is_local",
        "attention taken for a local window",
        "One attention layer connects any two positions directly, however far apart; a convolution sees its window alone.",
    ),
    Mistake(
        "attention_sees_order",
        "attention taken to know the order by itself",
        "Scores compare contents, not places: without positions, permuted tokens give the same vectors, permuted.",
    ),
    Mistake(
        "activations_as_parameters",
        "computed vectors counted as parameters",
        "Queries, keys and values are computed anew for each input; what is learned is W_Q, W_K and W_V.",
    ),
    Mistake(
        "batch_or_tokens_merged",
        "tokens or inputs merged by attention",
        "Every token of every input keeps a vector of its own; attention changes the features alone.",
    ),
    Mistake(
        "ffn_mixes_tokens",
        "the feed-forward block taken to mix tokens",
        "The feed-forward block treats each token by itself; only attention moves anything between tokens.",
    ),
    Mistake(
        "input_width_forgotten",
        "the input width left out",
        "A matrix that maps D features to d has D · d entries: every output feature reads every input feature.",
    ),
    Mistake(
        "invariant_vs_equivariant",
        "invariance claimed for equivariance",
        "Without positions the outputs are not unchanged by a permutation of the tokens: they are permuted with them.",
    ),
    Mistake(
        "layernorm_steps_mixed",
        "the steps of LayerNorm in another order",
        "Mean, variance, subtract and divide, then gamma and beta: scale and shift come last, or they would be undone.",
    ),
    Mistake(
        "longest_key",
        "the longest key taken",
        "A score is a dot product: a long key that points away from the query scores low.",
    ),
    Mistake(
        "more_training_is_better",
        "training loss taken for success",
        "A falling training loss says nothing about unseen data: once the validation loss rises, more epochs make it worse.",
    ),
    Mistake(
        "norm_place_mixed_up",
        "pre-norm and post-norm mixed up",
        "Post-norm normalises the sum, LayerNorm(x + f(x)); pre-norm normalises what enters the block, x + f(LayerNorm(x)).",
    ),
    Mistake(
        "one_vector_per_word",
        "one vector for all occurrences of a word",
        "A contextual vector belongs to a position: the same word at two places has two of them.",
    ),
    Mistake(
        "other_position",
        "another position taken",
        "The index of the query says whose contextual vector it is.",
    ),
    Mistake(
        "parameters_grow_with_length",
        "longer inputs taken to need more weights",
        "The same weights serve every position; what grows with the length is the attention matrix, and with it the cost.",
    ),
    Mistake(
        "query_attends_to_itself",
        "a token taken to attend to itself most",
        "Queries and keys are different maps of the tokens: a token's own key need not be the one that fits its query best.",
    ),
    Mistake(
        "residual_misread",
        "the residual connection misread",
        "Each of the two sub-layers has a residual connection: its input is added to its output, and nothing is learned in it.",
    ),
    Mistake(
        "scaling_misread",
        "the reason for 1/√d_k misread",
        "The spread of a dot product grows like √d_k; dividing by it keeps the softmax from saturating and its gradient alive.",
    ),
    Mistake(
        "scores_not_compared",
        "the scores not compared",
        "The softmax keeps the order of the scores: the largest score gets the largest weight.",
    ),
    Mistake(
        "sign_of_scores",
        "the smallest score taken for the largest",
        "A negative score means a small weight: exp grows, so the largest score gets the largest weight.",
    ),
    Mistake(
        "softmax_misread",
        "the softmax misread",
        "The softmax turns one query's scores into weights that are positive and sum to 1; it picks nothing and centres nothing.",
    ),
    Mistake(
        "steps_of_attention_mixed",
        "the steps of attention in another order",
        "Project, compare queries with keys, scale, softmax over the keys, mix the values.",
    ),
    Mistake(
        "sublayers_misplaced",
        "the sub-layers misplaced",
        "A layer is attention and then a feed-forward block, each with its own residual sum and its own LayerNorm.",
    ),
    Mistake(
        "width_changed",
        "a width that changes where it may not",
        "Every sub-layer gives back d_model features, or its output could not be added to its input.",
    ),
)

IDEAS: dict[str, Mistake] = {mistake.code: mistake for mistake in _IDEAS}


def mistake(code: str) -> Mistake:
    """The mistake of a code, wherever it is listed."""
    found = CATALOGUE.get(code) or IDEAS.get(code)
    return found if found is not None else Mistake(code, code.replace("_", " "), "")


def check_codes(codes: Iterable[str]) -> None:
    """Refuse a code that nothing is known of."""
    for code in codes:
        if code not in CATALOGUE and code not in IDEAS:
            raise GlassformerError(f"the mistake '{shown(code)}' is not known.{nearest(code, [*CATALOGUE, *IDEAS])}")
