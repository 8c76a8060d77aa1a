"""What people call things: the words of a question, and the parts, tensors, products and settings that they name."""

from __future__ import annotations

from collections.abc import Iterable

from glassformer.answers.questions.name_matching import named as _names

_QKV = {"query": "Q", "key": "K", "value": "V"}

# Parts that hold parameters, by the names of algebra/parts.py, or symbols.
PART_NAMES = _names(
    {
        "embeddings": "embeddings, embedding layer, input embeddings, all embeddings",
        "tokens": """
            token embeddings, word embeddings, wordpiece embeddings, vocabulary embeddings, vocab embeddings, token table,
            vocabulary, embedding matrix, embedding table, lookup table, token embedding matrix, word embedding layer,
            embedding lookup table, token lookup table, input embedding matrix,
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
            encoder of transformer, encoder, encoder layers, layers, encoder stack, stack, whole stack, transformer layers,
            transformer encoder, all
            layers, transformer blocks, encoder blocks, transformer stack""",
        "attention": """
            attention, self attention, multi head attention, multi head self attention, multihead attention, mha, mhsa, msa,
            multihead self attention, self attention heads, attention heads, attention projections, four
            attention projections, four projection matrices, four projections""",
        "qkv": """
            qkv, q k v, query key value, queries keys values, three projection matrices, three projections, three attention
            projections""",
        "output": """
            output projection, attention output projection, attention output, o projection, output linear layer, o, out
            projection""",
        "ffn": """
            ffn, feed forward, feedforward, feed forward network, mlp, position wise feed forward, pointwise feed forward,
            position wise ffn, feed forward neural network, fully connected, fnn, position wise mlp, linear layers of ffn, dense
            layers of ffn""",
        "W_1,b_1": """
            first linear layer, first ffn layer, fc1, intermediate dense layer, first dense layer, first layer of ffn,
            expansion layer, intermediate, up projection, first feed forward layer, intermediate layer""",
        "W_2,b_2": """
            second linear layer, second ffn layer, fc2, down projection, second feed forward layer, second dense layer,
            second layer of ffn, contraction layer""",
        "norms": """
            norms, layernorms, layer norms, layer normalizations, layer normalisations, normalization layers, normalisation
            layers, rmsnorm, rms norms, ln, normalization, normalisation""",
        "layers.0.norm_1": """
            one layernorm, one layer norm, gamma and beta of one layernorm, gamma and beta of layernorm, single layernorm,
            single layer norm, one norm, one layer normalization, each
            layernorm, each layer norm, each norm, single layer normalization, one layer normalisation""",
        "b_Q,b_K,b_V,b_O": "attention biases, biases of attention",
        "b_1,b_2": "ffn biases, feed forward biases, biases of ffn, mlp biases",
        "biases": "biases, bias terms, bias vectors, all biases",
        "weights": "weights, weight matrices, matrices, weight matrices alone",
        "pooler": "pooler, pooling layer, pooler layer, pooler dense layer",
        "head": """
            head, task head, output head, prediction head, output layer, task specific layer, final linear layer,
            final softmax layer, output softmax layer""",
        "head.classify": """
            classification head, classifier, classification layer, sequence classification head, linear classifier, softmax
            classifier, final classifier, final linear classifier,
            final classification layer, linear classification head, classification token head""",
        "head.mlm": """
            mlm softmax, mlm output layer, mlm head, lm head, masked lm head, language modeling head, masked language
            modeling head, mlm decoder""",
        "head.nsp": "nsp head, next sentence prediction head, nsp classifier",
        "head.tag": """
            token classification head, tagging head, ner head, qa head, span head, qa span head, question answering head, span
            prediction head""",
        "final_norm": "final norm, final layernorm, final layer norm, last norm",
        "distillation_token": "distillation token",
        "nothing": """
            dropout, dropout layers, residual connections, residual connection, skip connections, softmax, softmax function,
            relu, gelu,
            activation function, scaled dot product attention, scaled dot product, masking""",
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
            embeddings, embedding output, input vectors, input x, input sequence, input sequence after adding cls token, sequence
            after adding cls token, embedded sequence, sequence of patch embeddings with cls token, input to transformer""",
        "embeddings.patches": "patch embeddings, embedded patches, sequence of patch embeddings, projected patches",
        "attention.q": """
            q, query, queries, query matrix, query vectors, q matrix, query matrix q, matrix q, queries q, query tensor""",
        "attention.k": "k, key, keys, key matrix, key vectors, k matrix, key matrix k, matrix k, keys k, key tensor",
        "attention.v": """
            v, value, values, value matrix, value vectors, v matrix, value matrix v, matrix v, values v, value tensor""",
        "attention.scores": """
            scores, attention scores, score matrix, query key dot products, attention score matrix, qk^t, qkt, raw scores,
            scaled scores, dot
            products, query key products, similarity matrix, attention logits, attention score tensor, score tensor""",
        "attention.weights": """
            weights, attention weights, attention matrix, attention map, attention weight matrix, attention maps, attention
            probabilities, attention distribution, softmax output, output of softmax, result of softmax, output of softmax in self
            attention, attention pattern, attention coefficients""",
        "attention.mix": """
            head output, head outputs, output of head, attention head output, mix, single head output, context vectors""",
        "concat": """
            concatenation of all heads, concatenated heads, concatenated multi head output, concatenation, concatenated output,
            concatenated head outputs,
            concat, concatenation of
            heads, concatenated outputs of heads, concatenation of head outputs, attention output before final linear
            transformation, attention output before output projection, attention output before final projection, attention output
            before final linear layer""",
        "attention.out": """
            attention output, attention out, multi head output, multi head attention output, mha output, output of multi
            head attention, output of attention, self attention output, output of self attention, attention layer output,
            output of multi head self attention, attention block output""",
        "ffn.hidden": """
            ffn hidden, hidden layer, ffn hidden layer, intermediate, intermediate activations, ffn intermediate, hidden
            activations of ffn, ffn activations, mlp hidden, hidden layer of ffn, ffn inner layer, ffn hidden activation, output
            after first linear layer, output of first linear layer, output of first ffn layer, hidden representation of ffn,
            inner layer, hidden units, hidden activation, ffn intermediate activations""",
        "ffn.out": "ffn output, output of ffn, mlp output, feed forward output, output of feed forward network",
        "out": """
            output, layer output, encoder output, output of encoder, output of layer, last hidden state, hidden states,
            final output, final hidden states, output of encoder layer, encoder layer output, output of transformer, hidden
            state""",
        "gradients": "gradients",
        "optimizer": "optimizer",
        "padding mask": """
            padding mask, attention mask, mask, key padding mask, padding mask broadcast over attention scores, attention mask
            broadcast
            over scores, padding mask broadcast over scores, attention mask broadcast over attention scores""",
        "causal mask": "causal mask, look ahead mask, subsequent mask, triangular mask, causal attention mask",
        "logits": """
            logits, output logits, class scores, logits of classifier, logits of classification head, logits of mlm
            head, predictions, mlm logits, classification logits, final logits, head output logits""",
        "pooler.out": "pooled, pooled output, pooler output, sentence vector",
        "pooler.token": """
            cls embedding, cls token embedding, cls token representation, cls token vector, cls vector, cls
            representation, cls output, cls token output, cls hidden state""",
        "E_token": """
            embedding matrix, token embedding matrix, word embedding matrix, embedding table, token table, lookup table,
            token embedding table, word embedding table, token embedding lookup table, embedding lookup table, input embedding
            matrix""",
        "E_position": """
            position embedding matrix, positional embedding matrix, position table, position embedding table, position
            embedding, positional embedding, position embeddings, positional encoding, positional encoding matrix,
            output of positional encoding""",
        "E_segment": """
            token type embeddings, token type embedding, segment embedding, segment embedding matrix, segment table,
            segment embeddings, token type embedding matrix""",
    }
    | {
        f"W_{letter}": f"{role} weight matrix, {role} projection matrix, {role} weights, {role} projection"
        for role, letter in _QKV.items()
    }
    | {"W_O": "output weight matrix, output projection matrix, output projection"}
    | {
        "W_1": """
            first weight matrix, first linear layer, first ffn matrix, first ffn weight matrix, up projection, weight matrix of
            first ffn layer, weight matrix of first linear layer""",
        "W_2": """
            second weight matrix, second linear layer, second ffn matrix, second ffn weight matrix, down projection, weight
            matrix of second ffn layer, weight matrix of second linear layer""",
        "b_1": "bias b_1, first bias, first bias vector",
        "b_2": "bias b_2, second bias, second bias vector",
        "gamma": "gamma, layernorm gamma, gamma of layer norm, gamma in layer norm, gamma in layernorm, scale of layer norm",
        "beta": "beta, layernorm beta, beta of layer norm, beta in layer norm, beta in layernorm, shift of layer norm",
        "embeddings.pixels": "pixels, flattened patches, patches",
    }
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
            attention weighted sum, weighted average of values, attention weighted sum of values""",
        "core": """
            attention core, scaled dot product attention, dot product attention, sdpa, attention matrix products, scores and
            mix, quadratic part, quadratic term, scores and weighted sum, attention matrix, quadratic attention, quadratic part of
            attention, quadratic attention term, attention scores and weighted sum""",
        "output": "output projection, attention output projection, o projection",
        "projections": """
            projections, attention projections, qkvo, linear projections, qkv and output projections, four projections, four
            attention projections, four linear projections""",
        "ffn": """
            ffn, feed forward, feedforward, feed forward network, mlp, position wise feed forward, position wise ffn, feed
            forward neural network, fully connected""",
        "embeddings": "embeddings, embedding layer, patch embeddings, patch projection",
        "convolutions": "convolutions, convolution, convolutional layers, conv layers, two convolutions",
        "layers": "encoder, layers, encoder layers, all layers, transformer layers, encoder stack, transformer blocks",
        "pooler": "pooler",
        "head": "head, task head, prediction head, output layer",
        "head.classify": "classification head, classifier",
        "head.mlm": "mlm head, lm head",
    }
    | {
        f"W_{letter}": f"{role} projection, {role} matrix, {letter.lower()}, {role}, {role} vectors"
        for role, letter in _QKV.items()
    }
    | {
        "W_1": "first linear layer, first ffn layer, up projection, first dense layer, first linear layer of ffn, fc1",
        "W_2": "second linear layer, second ffn layer, down projection, second dense layer, second linear layer of ffn, fc2",
    }
)

# Bytes that are no tensor and no part.
STORES = _names(
    {
        "model": """
            model, weights, parameters, params, all parameters, model weights, model parameters, network, whole model, all
            weights, full model, checkpoint, model file, checkpoint file""",
        "gradients": "gradients, gradient, grads, all gradients, parameter gradients",
        "optimizer": """
            optimizer, optimizer state, adam optimizer state, adam optimizer, optimiser state, adam state, optimizer states,
            adam, adamw, adam moments, adam's moments, moments, adam two moments, adam moment buffers, moment buffers, adam
            two moment buffers, adam states, adamw states, adam's states, states""",
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
            vector, size of query vector, dimension of queries and keys, dimension of queries and keys of head,
            queries and keys dimension, q/k dimension, q/k dimension of head,
            q/k of head dimension, dim per head, features per head, attention head size, per head dimension,
            dimension of head, size of head, width of head, attention head dimension, d_head, head dimensionality""",
        "d_v": "d_v, dv, value dimension, dimension of value vector, size of value vector",
        "d_model": """
            d_model, hidden size, model dimension, model width, embedding dimension, hidden dimension, width, embedding
            size, hidden dim, model size d, representation size, size of representation, size of representation obtained,
            dimension of representation, encoder width, size of hidden dimension, model vector size, vector size, token
            dimension, size of token vector""",
        "d_ff": """
            d_ff, ffn width, ffn hidden size, feed forward dimension, intermediate size, ffn dimension, feed forward width,
            inner dimension, ffn inner dimension, mlp width, ffn hidden dimension, mlp dimension, feed forward hidden size, hidden
            dimension feed forward, inner dimension feed forward, hidden size feed forward, hidden layer size of ffn, hidden
            units of ffn, hidden units in ffn,
            hidden units of ffn layer, width of hidden layer of ffn, size of hidden layer of ffn, dimension of hidden
            layer
            of ffn, width of ffn, hidden dimension of ffn, inner dimension of ffn, hidden size of ffn, inner layer of ffn,
            neurons in hidden layer of ffn, hidden neurons of ffn, inner layer dimension, intermediate size of ffn, intermediate
            dimension, intermediate dimension of ffn, intermediate width""",
        "heads": """
            heads, attention heads, n_heads, num_heads, heads per layer, attention heads per layer, heads
            in layer, heads layer, attention heads layer""",
        "kv_heads": "kv heads, key value heads, key/value heads, heads of keys and values, kv heads per layer",
        "group": "group size of queries, query heads per kv head, query heads per key value head",
        "all_heads": """
            attention heads in total, heads in all layers, attention heads in all layers, heads across all layers, attention
            heads across all layers, heads altogether, attention heads in whole, heads in whole""",
        "outputs": """
            output neurons, outputs, output units, outputs of classification head, output neurons of classification layer,
            outputs of head, classes, output classes, outputs of softmax, outputs of classifier, output neurons of head, outputs
            of softmax of mlm head, output units of classifier, labels, output dimension of classifier, output size of head,
            outputs of mlm head, output dimension of classification head""",
        "expansion": """
            expansion factor of ffn, expansion factor, ffn expansion factor, mlp ratio, expansion ratio, ffn ratio, expansion
            ratio of ffn""",
        "batch_tokens": """
            tokens in batch, tokens per batch, tokens in one batch, tokens in each batch, tokens per step, tokens per training
            step, tokens of batch""",
        "layers": """
            layers, encoder layers, n_layers, num_layers, depth, transformer layers, transformer blocks, encoder blocks, blocks,
            depth of encoder, attention layers, layers of attention, self attention layers, layers of self attention""",
        "positions": """
            maximum sequence length, max sequence length, maximum length, max length, context length, maximum input length,
            maximum input, max input, input limit, token limit""",
        "segments": "number of segments, segment embeddings, token type embeddings, token types, segments",
        "mels": """
            mels, mel bins, mel bands, mel filters, mel channels, mel features, mel frequency bins, mel bins per frame,
            features per frame, features of frame""",
        "frames": "frames, input frames, mel frames, frames of sound, spectrogram frames, frames in input, frames of input",
        "relative_rows": """
            relative_buckets, relative buckets, position buckets, relative position buckets, rows of relative table, relative
            positions""",
        "dropout": "dropout rate, dropout probability",
        "vocab": "size of vocabulary, vocabulary size, vocab size, vocab, vocab_size",
        "patch": """
            patch dimension, patch vector length, patch length, flattened patch size, flattened patch, length of flattened
            patch, size of flattened patch, pixels per patch, dimension of flattened patch, flattened patch dimension, values
            per patch, dimension of patch vector, flattened patch length, numbers in flattened patch, values in flattened patch,
            pixel values in patch, numbers in patch, pixel values per patch""",
    }
)


def known_names() -> Iterable[str]:
    """Every name, for the nearest one to what was not understood."""
    return [*PART_NAMES, *TENSOR_NAMES]
