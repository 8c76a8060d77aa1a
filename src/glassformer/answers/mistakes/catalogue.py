"""The known mistakes: a stable code, a name, and the sentence for the student."""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """A misconception that predicts a wrong number."""

    code: str
    name: str
    sentence: str


_ALL = (
    Mistake(
        "heads_times_full_width",
        "full-width projections multiplied by the number of heads",
        "Each head is d_k = d_model / heads wide, so all heads together are one d_model × d_model matrix, not one each.",
    ),
    Mistake(
        "one_head_vs_all_heads",
        "one head taken for all heads, or all for one",
        "Each head has its own W_Q, W_K and W_V and its own scores: one head is one share of as many as there are heads.",
    ),
    Mistake(
        "grouped_queries_ignored",
        "heads of keys and values confused with heads of queries",
        "With grouped queries W_K and W_V have kv_heads heads, each shared by a group of queries; W_Q and W_O have all of them.",
    ),
    Mistake(
        "no_output_projection",
        "W_O left out",
        "After the heads are put side by side, W_O maps them back to d_model; it has parameters of its own.",
    ),
    Mistake(
        "attention_bias",
        "attention biases miscounted",
        "Each of W_Q, W_K, W_V, W_O comes with a bias vector where the spec has biases.",
    ),
    Mistake("ffn_bias", "feed-forward biases miscounted", "b_1 has d_ff entries and b_2 has d_model."),
    Mistake(
        "no_layernorm",
        "norm parameters left out",
        "Each norm has a gamma and a beta of d_model entries, and a layer has two norms.",
    ),
    Mistake(
        "layernorm_undercounted",
        "norms undercounted",
        "A layer has two norms, and each has a gamma and a beta, both d_model wide.",
    ),
    Mistake(
        "one_layer_only",
        "one layer reported for the stack",
        "Every layer has weights of its own: multiply by the number of layers.",
    ),
    Mistake(
        "shared_layers_multiplied",
        "a shared layer multiplied by the number of layers",
        "The layers share one set of weights, so it is counted once.",
    ),
    Mistake(
        "position_or_segment_table_missing",
        "position or segment table left out",
        "Besides the token table, a learned position table and a segment table are parameters too.",
    ),
    Mistake(
        "sinusoidal_counted",
        "fixed positions counted as parameters",
        "Sinusoidal and rotary positions are computed, not learned: they have no parameters.",
    ),
    Mistake(
        "tied_weights_twice",
        "a tied table counted twice",
        "The output layer uses the token table itself: one tensor, counted once.",
    ),
    Mistake(
        "ffn_one_or_twice",
        "feed-forward matrices miscounted",
        "A feed-forward block has W_1 (d_model × d_ff) and W_2 (d_ff × d_model), and a gated one a third matrix.",
    ),
    Mistake(
        "dv_dk_mixed",
        "d_k and d_v mixed up",
        "Queries and keys are d_k wide, values are d_v wide, and W_O reads heads · d_v features.",
    ),
    Mistake(
        "sequence_length_in_parameters",
        "sequence length or batch multiplied into the parameters",
        "The same weights serve every position and every input: parameters do not depend on the length or the batch.",
    ),
    Mistake(
        "vit_tokens_or_patch",
        "class token, colour channels or patch size forgotten",
        "A patch holds channels · side² pixels, and the sequence is the patches plus the class token.",
    ),
    Mistake(
        "head_count_wrong",
        "classification head miscounted",
        "A linear head has inputs × classes weights and one bias for each class.",
    ),
    Mistake(
        "vocabulary_ignored",
        "another vocabulary's size used",
        "The token table has a row for each entry of this model's vocabulary, whose size differs between models.",
    ),
    Mistake(
        "hyperparameter_product",
        "the hyper-parameters multiplied together",
        "layers · d_model · heads is a product of settings, not a count of weights.",
    ),
    Mistake(
        "pooler_in_or_out",
        "pooler counted or left out",
        "The pooler is a d_model × d_model map with a bias; some model classes have it, some do not.",
    ),
    Mistake("ffn_width_assumed_4d", "d_ff taken as 4 · d_model", "d_ff is given here; 4 · d_model is only the usual choice."),
    Mistake(
        "macs_vs_flops",
        "multiply-adds and FLOPs mixed up",
        "A multiply-add is two floating-point operations, one multiplication and one addition.",
    ),
    Mistake(
        "score_cost_times_heads",
        "score cost multiplied by the heads",
        "Each head's scores cost t² · d_k; all heads together cost t² · d_model, not heads times that.",
    ),
    Mistake(
        "no_quadratic_term",
        "scores left out of the cost",
        "Q Kᵀ and the weighted sum cost 2 · t² · d_model multiply-adds per layer besides the projections.",
    ),
    Mistake(
        "bytes_and_units",
        "units mixed up",
        "1 MB is 10^6 bytes and 1 MiB is 2^20; float32 takes 4 bytes, float16 and bfloat16 take 2.",
    ),
    Mistake(
        "stack_for_one_layer",
        "all layers reported for one",
        "The question is about one layer; the stack has as many of them as there are layers.",
    ),
    Mistake(
        "left_out_counted",
        "counted what was to be left out",
        "The question says what is not to be counted, and this number holds it.",
    ),
    Mistake(
        "linear_instead_of_quadratic",
        "attention taken as linear in the length",
        "Every token attends to every token: scores are t × t, so twice the length means four times the scores.",
    ),
    Mistake(
        "backward_forgotten",
        "backward pass left out or undercounted",
        "A backward pass has two products for each one of the forward pass, so a training step costs three forward passes.",
    ),
    Mistake(
        "training_state_forgotten",
        "gradients or optimizer state left out",
        "Training keeps weights, gradients and Adam's two moments: 4 + 4 + 8 bytes a parameter in float32.",
    ),
    Mistake("ratio_reversed", "ratio upside down", "The question says which of the two is divided by which."),
    Mistake(
        "queries_keys_transposed",
        "keys × queries instead of queries × keys",
        "With tokens as rows, row t of the attention matrix belongs to query t, and its columns to the keys.",
    ),
    Mistake(
        "feature_by_feature",
        "features × features instead of tokens × tokens",
        "The attention matrix relates tokens to tokens: t × t. A width in its place means that features attend to features.",
    ),
    Mistake(
        "digits_exchanged", "two digits exchanged", "The number is right but for two neighbouring digits that changed places."
    ),
    Mistake("zero_lost", "a zero lost or added", "The number is right but for a factor of ten."),
    # Worked numbers.
    Mistake(
        "no_scaling",
        "1/√d_k left out",
        "The dot products are divided by √d_k before the softmax; without that the weights come out too peaked.",
    ),
    Mistake(
        "sqrt_dmodel",
        "√d_model for √d_k",
        "The dot products are divided by the root of d_k, the width of one head's queries and keys, not of d_model.",
    ),
    Mistake(
        "divided_by_dk", "d_k for its root", "The dot products are divided by √d_k, not by d_k: the weights come out too even."
    ),
    Mistake(
        "sqrt_length",
        "the root of the length for √d_k",
        "The dot products are divided by √d_k; how many keys there are does not enter.",
    ),
    Mistake("multiplied_by_root", "multiplied by √d_k", "The dot products are divided by √d_k, not multiplied by it."),
    Mistake(
        "scaled_after_softmax",
        "scaled after the softmax",
        "The scores are divided before the softmax. Divided after it, the weights no longer sum to one.",
    ),
    Mistake(
        "scaled_unasked",
        "scaled although the question does not",
        "This question uses the dot products as they are, without a division by √d_k.",
    ),
    Mistake(
        "queries_keys_exchanged",
        "queries and keys exchanged",
        "Row t of Q Kᵀ compares query t with every key, and its weights mix the values for query t; K Qᵀ is its transpose.",
    ),
    Mistake(
        "values_forgotten",
        "values not used",
        "The weights mix the values: the output is weights · V, not the weights or scores themselves and not weights · K.",
    ),
    Mistake(
        "softmax_wrong_axis",
        "softmax over the wrong axis",
        "Each query shares out its weight over the keys: with tokens as rows, every row of the weights sums to one.",
    ),
    Mistake(
        "exp_missing",
        "softmax without the exponential",
        "A softmax divides e^score by the sum of all e^score, not the score by the sum of the scores.",
    ),
    Mistake(
        "softmax_not_normalised",
        "softmax without its sum",
        "A softmax divides each e^score by their sum, so that the weights sum to one.",
    ),
    Mistake(
        "hard_or_uniform_attention",
        "best key only, or plain average",
        "A softmax gives every key a share: more to higher scores, but neither all to the best nor the same to each.",
    ),
    Mistake(
        "wrong_distribution",
        "another function for the one asked",
        "Softmax, sparsemax and sigmoid make different weights of the same scores; the question says which one is meant.",
    ),
    Mistake("temperature", "temperature left out or multiplied", "The scores are divided by the temperature before the softmax."),
    Mistake(
        "mask_wrong",
        "mask applied wrongly",
        "Masked scores become −∞ before the softmax: a 0 still takes weight (e^0 = 1), and a mask after it breaks the sum.",
    ),
    Mistake("mask_forgotten", "mask left out", "Masked keys get no weight: their scores are set to −∞ before the softmax."),
    Mistake(
        "row_column_convention",
        "W x for x W",
        "With tokens as rows it is x W. W x uses the transposed matrix, and with a square one nothing looks wrong.",
    ),
    Mistake(
        "projection_forgotten",
        "a projection left out",
        "Queries, keys and values are the vectors times W_Q, W_K and W_V, not the vectors themselves.",
    ),
    Mistake("bias_forgotten", "a bias left out", "The map is x W + b: the bias is added to every row."),
    Mistake(
        "heads_split_wrong",
        "features dealt to the wrong heads",
        "A wide matrix is cut into blocks of neighbouring columns, one block for each head.",
    ),
    Mistake(
        "residual_forgotten", "residual left out", "The sub-layer's result is added to what went into it, and the sum goes on."
    ),
    Mistake("residual_after_norm", "residual added after the norm", "The sum x + sub-layer is normalised as a whole."),
    Mistake(
        "pre_for_post",
        "pre-norm for post-norm",
        "Here the norm stands after the residual sum, norm(x + sub-layer(x)); pre-norm is x + sub-layer(norm(x)).",
    ),
    Mistake(
        "post_for_pre",
        "post-norm for pre-norm",
        "Here the norm stands before the sub-layer, x + sub-layer(norm(x)); post-norm is norm(x + sub-layer(x)).",
    ),
    Mistake("norm_forgotten", "norm left out", "Each sub-layer of this problem has a norm."),
    Mistake(
        "layernorm_variance",
        "variance, its root or eps wrong",
        "LayerNorm divides by √(variance + eps), the variance being the mean square unless the question says n − 1.",
    ),
    Mistake("layernorm_half_done", "LayerNorm half done", "LayerNorm subtracts the mean and divides by the deviation: both."),
    Mistake(
        "layernorm_wrong_axis",
        "LayerNorm over the wrong axis",
        "LayerNorm takes mean and variance over the features of one token, for each token by itself.",
    ),
    Mistake("rmsnorm_for_layernorm", "RMSNorm for LayerNorm", "LayerNorm subtracts the mean first; RMSNorm does not."),
    Mistake(
        "layernorm_for_rmsnorm", "LayerNorm for RMSNorm", "RMSNorm subtracts no mean: it divides by the root of the mean square."
    ),
    Mistake(
        "gamma_beta_forgotten",
        "gamma or beta left out",
        "After normalising, each feature is multiplied by its gamma and its beta is added.",
    ),
    Mistake(
        "activation_forgotten",
        "activation left out or exchanged",
        "Between the two maps every hidden number goes through the activation that the question names.",
    ),
    Mistake("second_map_forgotten", "W_2 left out", "The feed-forward block ends with W_2, which leads back to d_model."),
    Mistake(
        "positional_index",
        "positions indexed or arranged wrongly",
        "Features 2i and 2i+1 are sine and cosine of pos / base^(2i/d): i numbers the pair, and positions count from 0.",
    ),
    Mistake(
        "positions_forgotten", "positions not added", "The position's vector is added to the embedding before anything else."
    ),
    Mistake(
        "embedding_forgotten",
        "positions without the embedding",
        "The position's vector is added to the embedding; it does not replace it.",
    ),
    Mistake("embedding_scale", "embeddings not scaled", "This problem multiplies the embeddings before the positions are added."),
    Mistake("rotation_direction", "turned the other way", "A pair (a, b) becomes (a cos − b sin, b cos + a sin)."),
    Mistake("degrees_for_radians", "degrees for radians", "The angles are in radians; set the calculator to them."),
    Mistake(
        "arithmetic_or_rounding",
        "rounded too early",
        "The method is right. Carry more digits on the way, and round the result alone.",
    ),
    Mistake("sign_slip", "a minus lost", "The method is right but for one sign."),
    Mistake("decimal_point", "decimal point slipped", "The digits are right but for a power of ten."),
    Mistake("entries_exchanged", "two numbers exchanged", "The numbers are right, but two of them stand in each other's place."),
)

CATALOGUE: dict[str, Mistake] = {mistake.code: mistake for mistake in _ALL}
