"""What people call things: the words of a question, and the parts, tensors, products and settings that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# Words that add nothing to a name; where one stands at the end, the name is also looked up without it.
NOUNS = """
    matrix weight table layer block sublayer module network projection vector component part stack mechanism operation
    step product term parameter param tensor transformation
""".split()
ARTICLES = {"the", "a", "an", "its", "this", "that", "our", "your"}

_QKV = {"query": "Q", "key": "K", "value": "V"}


def _names(table: Mapping[str, str]) -> dict[str, str]:
    """Every name of a table, in the form in which names are compared."""
    return {plain(name): what for what, names in table.items() for name in names.split(",")}


def plain(text: str) -> str:
    """A name as names are compared: without articles and hyphens, in the singular."""
    words = re.sub(r"[-_/]", " ", text.lower().replace("[cls]", "cls")).split()
    return " ".join(_singular(word) for word in words if word not in ARTICLES)


def _singular(word: str) -> str:
    if word.endswith(("ses", "ices")):
        return word[:-2] if word.endswith("ses") else f"{word[:-4]}ix"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as")) else word


def looked_up(text: str, table: Mapping[str, str]) -> str | None:
    """What a name stands for: as it is, or without a noun at its end (`feed-forward block`) or a number before it."""
    words = re.sub(r"^(?:both|two|2|all) ", "", plain(text)).split()
    while words:
        if (found := table.get(" ".join(words))) is not None:
            return found
        if words[-1] not in NOUNS:
            return None
        words = words[:-1]
    return None


# Parts that hold parameters, by the names of algebra/parts.py, or symbols.
PART_NAMES = _names(
    {
        "embeddings": "embeddings, embedding layer, input embeddings, all embeddings",
        "tokens": """
            token embeddings, word embeddings, wordpiece embeddings, vocabulary embeddings, vocab embeddings, token table,
            vocabulary, embedding matrix, embedding table, lookup table, token embedding matrix, word embedding layer,
            tokens""",
        "positions": """
            position embeddings, positional embeddings, positional encodings, position encodings, position table, positions,
            absolute position embeddings, learned positional embeddings, learned position embeddings""",
        "segments": "segment embeddings, token type embeddings, segment table, segments, type embeddings, sentence embeddings",
        "relative": "relative position bias, relative attention bias, relative positions",
        "patches": """
            linear projection of patches, linear projection of flattened patches, patch embeddings, patch projection,
            patches, patch embedding layer, linear patch projection""",
        "class_token": "class token, cls token, cls embedding, class embedding",
        "layers": """
            encoder, encoder layers, layers, encoder stack, stack, whole stack, transformer layers, transformer encoder, all
            layers, transformer blocks, encoder blocks, transformer stack""",
        "attention": """
            attention, self attention, multi head attention, multi head self attention, multihead attention, mha, mhsa, msa,
            multihead self attention, self attention heads, attention heads, attention projections""",
        "qkv": "qkv, q k v, query key value, queries keys values",
        "output": "output projection, attention output projection, attention output, o projection, output linear layer",
        "ffn": """
            ffn, feed forward, feedforward, feed forward network, mlp, position wise feed forward, pointwise feed forward,
            position wise ffn, feed forward neural network, fully connected, fnn, position wise mlp, linear layers of ffn""",
        "W_1,b_1": "first linear layer, first ffn layer, fc1, up projection, first feed forward layer, intermediate layer",
        "W_2,b_2": "second linear layer, second ffn layer, fc2, down projection, second feed forward layer",
        "norms": """
            norms, layernorms, layer norms, layer normalizations, layer normalisations, normalization layers, normalisation
            layers, rmsnorm, rms norms, ln, normalization, normalisation""",
        "layers.0.norm_1": """
            one layernorm, one layer norm, single layernorm, single layer norm, one norm, one layer normalization, each
            layernorm, each layer norm, each norm, single layer normalization, one layer normalisation""",
        "b_Q,b_K,b_V,b_O": "attention biases, biases of attention",
        "b_1,b_2": "ffn biases, feed forward biases, biases of ffn, mlp biases",
        "biases": "biases, bias terms, bias vectors, all biases",
        "weights": "weights, weight matrices, matrices, weight matrices alone",
        "pooler": "pooler, pooling layer, pooler layer, pooler dense layer",
        "head": """
            head, classification head, classifier, task head, output head, mlm head, lm head, masked lm head, prediction
            head, classification layer, output layer, language modeling head, task specific layer, final linear layer""",
        "final_norm": "final norm, final layernorm, final layer norm, last norm",
        "distillation_token": "distillation token",
    }
    | {
        f"W_{letter},b_{letter}": f"{role} projection, {role} linear layer, {role}, {letter.lower()}"
        for role, letter in _QKV.items()
    }
    | {f"W_{letter}": f"{role} matrix, {role} weight matrix, {role} weights" for role, letter in _QKV.items()}
)

# Tensors of the forward pass -> the last words of their name in the program.
TENSOR_NAMES = _names(
    {
        "x": """
            x, input to encoder, encoder input, input to first layer, input, inputs, input matrix, embedded input, input
            embeddings, embedding output, input vectors, input x""",
        "attention.q": "q, query, queries, query matrix, query vectors, q matrix",
        "attention.k": "k, key, keys, key matrix, key vectors, k matrix",
        "attention.v": "v, value, values, value matrix, value vectors, v matrix",
        "attention.scores": """
            scores, attention scores, score matrix, attention score matrix, qk^t, qkt, raw scores, scaled scores, dot
            products, query key products, similarity matrix, attention logits""",
        "attention.weights": """
            weights, attention weights, attention matrix, attention map, attention weight matrix, attention maps, attention
            probabilities, attention distribution, softmax output, attention pattern, attention coefficients""",
        "attention.mix": """
            head output, head outputs, output of head, attention head output, mix, single head output, context vectors""",
        "concat": """
            concatenated heads, concatenation, concatenated output, concatenated head outputs, concat, concatenation of
            heads, concatenated outputs of heads, concatenation of head outputs""",
        "attention.out": """
            attention output, attention out, multi head output, multi head attention output, mha output, output of multi
            head attention, output of attention, self attention output, output of self attention, attention layer output,
            output of multi head self attention, attention block output""",
        "ffn.hidden": """
            ffn hidden, hidden layer, ffn hidden layer, intermediate, intermediate activations, ffn intermediate, hidden
            activations of ffn, ffn activations, mlp hidden, hidden layer of ffn, ffn inner layer""",
        "ffn.out": "ffn output, output of ffn, mlp output, feed forward output, output of feed forward network",
        "out": """
            output, layer output, encoder output, output of encoder, output of layer, last hidden state, hidden states,
            final output, final hidden states, output of encoder layer, encoder layer output, output of transformer, hidden
            state""",
        "logits": "logits, output logits, class scores, predictions",
        "pooler.out": "pooled, pooled output, pooler output, sentence vector",
        "pooler.token": "cls vector, cls representation, cls output, cls token output, cls hidden state",
        "E_token": """
            embedding matrix, token embedding matrix, word embedding matrix, embedding table, token table, lookup table,
            token embedding table, word embedding table""",
        "E_position": """
            position embedding matrix, positional embedding matrix, position table, position embedding table, position
            embedding, positional embedding, position embeddings, positional encoding, positional encoding matrix""",
        "E_segment": "segment embedding matrix, segment table, segment embeddings, token type embedding matrix",
    }
    | {
        f"W_{letter}": f"{role} weight matrix, {role} projection matrix, {role} weights, {role} projection"
        for role, letter in _QKV.items()
    }
    | {"W_O": "output weight matrix, output projection matrix, output projection"}
)

# Products of the forward pass, for FLOPs.
PRODUCT_NAMES = _names(
    {
        "attention": """
            attention, self attention, multi head attention, multi head self attention, mha, mhsa, multihead attention,
            attention layer""",
        "qkv": "qkv, q k v, query key value, queries keys values, qkv projections",
        "scores": """
            scores, attention scores, qk^t, qkt, score matrix, query key products, dot products, attention score computation""",
        "mix": """
            mix, weighted sum, weighted sum of values, attention times values, av, values aggregation, weights times values,
            attention weighted sum, weighted average of values""",
        "core": """
            attention core, scaled dot product attention, dot product attention, sdpa, attention matrix products, scores and
            mix, quadratic part, quadratic term, scores and weighted sum, attention matrix""",
        "output": "output projection, attention output projection, o projection",
        "projections": "projections, attention projections, qkvo, linear projections, qkv and output projections",
        "ffn": """
            ffn, feed forward, feedforward, feed forward network, mlp, position wise feed forward, position wise ffn, feed
            forward neural network, fully connected""",
        "embeddings": "embeddings, embedding layer, patch embeddings, patch projection",
        "layers": "encoder, layers, encoder layers, all layers, transformer layers, encoder stack, transformer blocks",
        "pooler": "pooler",
        "head": "head, classification head, classifier, mlm head, lm head, task head, prediction head, output layer",
    }
    | {f"W_{letter}": f"{role} projection, {role} matrix" for role, letter in _QKV.items()}
)

# Bytes that are no tensor and no part.
STORES = _names(
    {
        "model": """
            model, weights, parameters, params, all parameters, model weights, model parameters, network, whole model, all
            weights, full model""",
        "gradients": "gradients, gradient, grads",
        "optimizer": """
            optimizer, optimizer state, adam optimizer state, adam optimizer, optimiser state, adam state, optimizer states,
            adam, adamw, adam moments, adam's moments, moments""",
        "training": "training, train, training state, weights gradients and optimizer state, training with adam, training step",
        "activations": "activations, intermediate results, saved activations",
        "kv": "kv cache, key value cache, keys and values, kv, cache",
    }
)

# Settings that can be asked for by themselves.
SETTINGS = _names(
    {
        "d_k": """
            d_k, dk, head width, head size, head dimension, head dim, head_dim, dimension per head, dimensions per head,
            size per head, width per head, key dimension, query dimension, dimension of query vector, dimension of key
            vector, size of query vector, dim per head, features per head, attention head size, per head dimension,
            dimension of head, size of head, width of head, attention head dimension, d_head, head dimensionality""",
        "d_v": "d_v, dv, value dimension, dimension of value vector, size of value vector",
        "d_model": """
            d_model, hidden size, model dimension, model width, embedding dimension, hidden dimension, width, embedding
            size, hidden dim, model size d""",
        "d_ff": """
            d_ff, ffn width, ffn hidden size, feed forward dimension, intermediate size, ffn dimension, feed forward width,
            inner dimension, ffn inner dimension, mlp width, ffn hidden dimension, mlp dimension, feed forward hidden size""",
        "heads": "heads, attention heads, n_heads, num_heads",
        "layers": "layers, encoder layers, n_layers, num_layers, depth, transformer layers, transformer blocks, encoder blocks",
        "positions": """
            maximum sequence length, max sequence length, maximum length, max length, context length, maximum input length""",
        "vocab": "size of vocabulary, vocabulary size, vocab size, vocab, vocab_size",
        "patch": """
            patch dimension, patch vector length, patch length, flattened patch size, flattened patch, length of flattened
            patch, size of flattened patch, pixels per patch""",
    }
)


def known_names() -> Iterable[str]:
    """Every name, for the nearest one to what was not understood."""
    return [*PART_NAMES, *TENSOR_NAMES]
