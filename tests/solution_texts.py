"""Worked solutions of our own, some with known mistakes and some with none."""

COUNTED_TWICE = """# A small encoder counted

Hidden size 768, feed-forward width 3072, a vocabulary of 40,000.

Embedding tables:

- tokens: $40,000 \\times 768 = 30,720,000$
- positions: $512 \\times 768 = 393,216$
- segments: $2 \\times 768 = 1,536$
- Total of the tables: $30,720,000 + 393,216 + 1,536 = 31,114,752$

The encoder has 8 layers, each with 8 attention heads:

- query, key and value matrices: $3 \\times (768 \\times 768) \\times 8 = 14,155,008$
- output matrix: $768 \\times 768 \\times 8 = 4,569,984$
- Total attention parameters: 18,725,992
- first feed-forward matrix: $768 \\times 3072 = 2,359,296$
- second feed-forward matrix: $3072 \\times 768 = 2,359,296$
- Total feed-forward parameters: 4,718,592
- one layer: $18,725,992 + 4,718,592 = 23,444,584$
- all 8 layers: $23,444,584 \\times 8 = 187,556,672$

The whole model: $31,114,752 + 187,556,672 = 218,671,424$
"""

TRAPPED = """# Shapes

Six tokens: X has shape $[768, 6]$, while W^Q, W^K and W^V each have shape $[768, 768]$.

$Q = W^Q X$, $K = W^K X$, $V = W^V X$

$$\\text{Attention}(Q, K, V) = \\text{softmax}\\left(\\frac{QK^T}{\\sqrt{d_k}}\\right)V$$

The sizes of Q, K and V are $[768, 6]$. The output of $\\text{Attention}(Q, K, V)$ has the shape $[768, 6]$.
"""

WRONG_ROOT = """# Several heads

Queries $Q_1, \\dots, Q_S \\in \\mathbb{R}^{\\frac{d}{S} \\times t}$.
Keys $K_1, \\dots, K_S \\in \\mathbb{R}^{\\frac{d}{S} \\times t}$.

$$P_i = \\text{softmax}(K_i^T Q_i / \\sqrt{d})$$

Take $d = 512$ and $S = 8$.
"""

CUT_OUT = """# One head by hand

- Time: $[0, 1, 1, 1, 1, 0]$
- Flies: $[1, 1, 0, -1, -1, 1]$

Two dimensions for each of the three, so we extract the parts:

- Q (Time): $[0, 1]$
- K (Time): $[1, 1]$
- V (Time): $[1, 1]$
- Q (Flies): $[1, 1]$
- K (Flies): $[0, -1]$
- V (Flies): $[-1, -1]$
"""

VARIABLES = """# Variables

- `tokens` has shape [1, 5, 768]
- the shape of `q_heads` is [1, 5, 12, 64]
- weights.shape = (1, 12, 5, 5)
- z: [1, 5, 768]
"""

# Nothing is to be said about any of these.
RIGHT = {
    "rows": """X is 6 x 768 and W_Q, W_K and W_V are 768 x 64.

$Q = X W_Q$, $K = X W_K$, $V = X W_V$

$$Z = softmax(Q K^T / \\sqrt{d_k}) V$$
""",
    "columns": """X has dimensions [768, 6], and W_Q, W_K and W_V have dimensions [64, 768].

Q = W_Q X; K = W_K X; V = W_V X.

$$Z = V softmax(K^T Q / \\sqrt{d_k})$$
""",
    "right counts with heads": """A layer with 8 heads and d_model = 512, so d_k = 64.

- W_Q, W_K and W_V: 3 × 512 × 512 = 786,432 parameters
- the same by heads: 3 × 512 × 64 × 8 = 786,432 parameters
- W_O: 512 × 512 = 262,144 parameters
""",
    "8 layers": """A model with 8 layers and hidden size 768.

- output matrices of all layers: 768 × 768 × 8 = 4,718,592 weights
""",
    "8 layers with 8 heads": """A model with 8 layers, 8 heads and hidden size 768.

- output matrices W_O: 768 × 768 × 8 = 4,718,592 weights
- query, key and value matrices: 3 × 768 × 768 × 8 = 14,155,776 weights
""",
    "layers said after heads": """Hidden size 768 with 12 heads, the number of layers being 12.

The weights of W_O: 768 × 768 × 12 = 7,077,888
""",
    "a warning": """X is 6 x 768 and W_Q is 768 x 64, with 8 heads and d_model = 512.

Q = W_Q X would not fit.

It is a mistake to count the query weights as 512 × 512 × 8 = 2,097,152.
""",
    "as many blocks as heads": """d_model = 1024, 16 heads in each of 16 blocks.

The weights of W_O: 1024 × 1024 × 16 = 16,777,216
""",
    "other layers": """d_model = 1024, 16 heads, 24 layers.

The weights of W_O: 1024 × 1024 × 24 = 25,165,824
""",
    "weights as a program stores them": """X is 6 x 768, and W_Q has shape [64, 768].

$Q = X W_Q^T$
""",
    "one token": """The token x_1 is 1 x 768 and W_Q is 768 x 64.

$q_1 = x_1 W_Q$
""",
    "residual": """X is 6 x 768 and Z is 6 x 768.

$Y = X + Z$
""",
    "cross attention": """Q is 5 x 64, K is 7 x 64 and V is 7 x 32.

$$Z = softmax(Q K^T / \\sqrt{64}) V$$

Z is 5 x 32.
""",
    "rows and columns side by side": """With rows, X is 6 x 768 and W_Q is 768 x 64: $Q = X W_Q$.
With columns, X is 768 x 6 and W_Q is 64 x 768: $Q = W_Q X$.
""",
    "batch": """X has shape [32, 6, 768] and W_Q has shape [768, 64].

$Q = X W_Q$
""",
    "depth": """Hidden size 768, heads: 12, depth: 12.

The weights of W_O: 768 × 768 × 12 = 7,077,888
""",
    "attention matrices": """d_model = 512, and 8 heads read 512 tokens.

The weights of all heads: 512 × 512 × 8 = 2,097,152
""",
    "four matrices, four heads": """d_model = 64 and 4 heads.

All projection weights: 4 × 64 × 64 = 16,384
""",
    "heads as wide as the model": """d_model = 64, 8 heads, and the dimension of each head is 64, too.

Query weights: 64 × 64 × 8 = 32,768
""",
    "maps inside a head": """d_model = 512, 8 heads, d_k = 64.

Each head maps its own slice, key weights: 64 × 64 × 8 = 32,768
""",
    "X in two conventions": """X is 6 x 768. Somebody else says X is 768 x 6, and W_Q is 768 x 768.

Q = W_Q X
""",
    "vectors": """Q is [1, 2] and K is [3, 4]. V is [0, 1].

$$Z = softmax(Q K^T) V$$
""",
    "parts in order": """- Time: [0, 1, 1, 1, 1, 0]
- Flies: [1, 1, 0, -1, -1, 1]

The parts:

- Q (Time): [0, 1]
- K (Time): [1, 1]
- V (Time): [1, 0]
- Q (Flies): [1, 1]
- K (Flies): [0, -1]
- V (Flies): [-1, 1]
""",
    "projected values": CUT_OUT.replace("so we extract the parts", "projected with W_V, so we extract the parts"),
    "root of d_k": WRONG_ROOT.replace("\\sqrt{d}", "\\sqrt{d / S}"),
    "transposes": "K is 64 x 6, so $K^T$ is 6 x 64, and Q is 64 x 6.\n\n$$S = K^T Q$$\n",
}
