"""The block that a tensor belongs to, and its role in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

BlockKind = Literal[
    "encoder",  # everything
    "stack",  # one of the two stacks of an encoder-decoder, with its embeddings
    "embeddings",  # from the input to the vectors that enter the first layer
    "layers",  # all layers together; a table that they share belongs here
    "layer",  # one of them
    "attention",  # self-attention
    "mixing",  # a Fourier transform over positions and features, instead of attention
    "cross",  # queries of a decoder, keys and values of an encoder
    "ffn",  # a feed-forward block
    "norm",  # LayerNorm or RMSNorm
    "pooler",  # one vector for the whole input
    "head",  # a task head
]


class Block(NamedTuple):
    """A part of the encoder, `layers.3.attention` for example. Blocks are nested: `above` is the block around this one."""

    name: str
    word: str  # the last word of the name
    kind: BlockKind
    part: str = ""  # the outermost block around it in its stack: embeddings, layers, final_norm, pooler or head
    layer: int | None = None  # the layer that it is or belongs to
    above: Block | None = None
    stack: str = ""  # encoder or decoder, in an encoder-decoder

    def inside(self, word: str, kind: BlockKind, layer: int | None = None) -> Block:
        """A block in this one."""
        name = f"{self.name}.{word}" if self.name else word
        if kind == "stack":
            return Block(name, word, kind, above=self, stack=word)
        return Block(name, word, kind, self.part or word, self.layer if layer is None else layer, self, self.stack)

    def tensor(self, symbol: str) -> str:
        """The name of a tensor of this block: `layers.3.attention.W_Q`."""
        return f"{self.name}.{symbol}" if self.name else symbol

    @property
    def around(self) -> Iterator[Block]:
        """This block and the blocks that contain it, innermost first, without the encoder itself."""
        block = self
        while block.above is not None:
            yield block
            block = block.above

    @property
    def path(self) -> tuple[Block, ...]:
        """The same, outermost first: layers, layers.3, layers.3.attention."""
        return tuple(self.around)[::-1]

    @property
    def layer_name(self) -> str:
        """The name of the layer that it is or belongs to: `decoder.layers.3`; empty outside the layers."""
        return next((block.name for block in self.around if block.kind == "layer"), "")

    @property
    def reads_source(self) -> bool:
        """Whether it belongs to cross-attention, whose keys are positions of the source."""
        return any(block.kind == "cross" for block in self.around)

    @property
    def any_layer(self) -> str:
        """The name of the block in any layer: `layers.*.attention`."""
        return ".".join("*" if block.kind == "layer" else block.word for block in self.path)


ENCODER = Block("", "", "encoder")

# The purpose of a tensor. A parameter has the role of the step that it produces: W_Q and b_Q produce queries.
Role = Literal[
    # Input
    "input",  # token ids, an image, frames of sound, vectors
    "attend",  # which tokens are real, and which are padding
    # Embeddings
    "token",  # the vector of each token
    "scaled token",  # times √d_model
    "rescaled token",  # zeros for masked tokens, the others scaled up
    "segment",  # the vector of each segment
    "task",  # the vector of the first task
    "language",  # vectors of languages, which are stored
    "page position",  # the vector of a side of each token's box on a page, of its height or its width
    "position",  # the vector of each position
    "embedding sum",  # tokens, segments and positions added
    "pixels",  # the pixels of each patch in a row
    "patch",  # the vector of each patch
    "class token",  # learned tokens in front of the patches, class and distillation
    "mask token",  # replaces a masked patch
    "register",  # learned tokens that carry no input
    "sequence",  # class token and patches joined into one sequence
    "sequence with registers",
    "kept patches",  # the patches that were not masked
    "slice",  # some positions of a sequence
    "neighbours",  # each frame concatenated with its neighbours
    "convolution",  # over frames of sound
    "convolution activation",
    "grouped convolution",  # of each group of features
    "convolution residual",  # a layer's output plus that of the parallel convolution
    "sound",  # the vector of each position of a sound
    "real sound",  # zeros at padding
    "feature groups",  # features cut into groups, of a positional convolution or a projection
    "position neighbours",  # each position concatenated with its neighbours
    "position direction",  # of the weight of a positional convolution, whose length is learned apart
    "position length",
    "position weight",  # the direction at that length
    "position convolution",
    "position activation",
    "layer weights",  # learned weights of the layers' hidden states
    "layer shares",  # softmax of these weights
    "stacked states",
    "weighted states",
    "summed states",
    "head features",  # the features of each token cut into heads
    "gate scores",
    "gate sums",
    "gate parts",
    "gate",  # the factor of the relative bias for a token
    "gated bias",
    "projected token",
    "token projection",  # of a token and its neighbours, to d_model
    "projected embedding",  # from d_embedding to d_model
    # Attention
    "query",
    "key",
    "value",
    "rotated query",  # with rotary positions
    "rotated key",
    "rotated value",  # with rotary_values
    "shared key",  # one head of keys for several heads of queries
    "shared value",
    "grouped projection",  # of features in separate groups
    "heads",  # queries or keys, split into heads after a common norm
    "scores",  # query times key
    "global query",  # of a global token, with its own projections
    "global key",
    "global value",
    "local scores",  # by the projections of the other tokens
    "global scores",
    "local mix",
    "global mix",
    "capped scores",  # cap · tanh(scores / cap)
    "relative table",  # numbers or vectors, learned for each distance
    "relative bias",  # the term that the table adds to the scores
    "box bias",  # the term by the distance of boxes on a page
    "summed bias",
    "scaled bias",  # divided by √d_k, as the scores are
    "relative query",  # of the table's vectors, in disentangled attention
    "relative key",
    "shared relative key",
    "content to buckets",  # each query times the key of each distance
    "content to position",  # of those, the one for the distance of each pair
    "buckets to content",  # each key times the query of each distance
    "position to content",
    "biased scores",
    "masked scores",
    "landmark",  # means of the queries or the keys of a segment
    "landmark inverse",
    "value convolution",  # the values of neighbours, by weights that depend on the distance alone
    "weights",  # softmax of the scores
    "mix",  # values summed by their weights
    "attention output",  # the heads concatenated and projected
    "mixed",  # by a Fourier transform, in place of attention
    # Feed-forward block
    "ffn hidden",
    "ffn activation",
    "ffn gate",
    "gated ffn activation",
    "ffn output",
    # Norm
    "mean",  # of the features; in a pooler or a head, of the positions
    "variance",  # of the features; with RMSNorm the mean of their squares
    "normalised",
    "gamma",
    "beta",
    "norm output",
    # Layer
    "scaled attention output",  # times a learned factor for each feature
    "scaled ffn output",
    "scaled cross output",
    "attention residual",  # the input plus the output of the attention (or of its replacement)
    "narrowed",  # the layer's input, in a bottleneck
    "widened",
    "bottleneck residual",
    "cross residual",  # plus the output of cross-attention
    "ffn residual",
    # Between layers
    "pooled pairs",  # of tokens, where the sequence is pooled
    "spread",  # to the length before it was pooled
    # Pooler
    "pooled token",  # the first or the last position
    "pooler query",  # a learned query that reads all positions
    "pooler hidden",
    "pooler residual",
    "pooled",  # the output of the pooler
    # Head
    "first token",
    "joined",  # two vectors concatenated
    "head hidden",
    "head activation",
    "logits",
    "table logits",  # from the features that the token table has
    "rest logits",  # by the others
    "token logits",  # of each token; the logits are their mean
    "projected output",  # from d_model to the width of the token table
    "scaled output",  # divided by √d_model
    "uncapped logits",  # before an offset is added, or they are capped
    "logit offset",  # a stored number for each token
    "offset logits",
    "next logits",  # whether the second sentence follows the first
    "second token",  # the distillation token
    "distillation logits",  # of the second token
    "logit sum",
    "spare bias",  # stored in checkpoints, never used
    "contact",  # of the contact head of proteins, which is stored but not computed
    "projection",  # into the shared space of images and texts
    "code scores",  # of each code that sound may be quantised to
    "code",  # the vector of a code
    "adapter",  # for one of several tasks, stored but not applied
    # By hand
    "deviation",  # the root of the variance
    # In no encoder
    "other",  # a step of a problem that is worked by hand, a tensor inside an operation
]
