# The algebra of BERT, as a script. `python docs/notebooks/build.py` makes the notebook from it.

# %% [markdown]
# # The algebra of BERT
#
# How many parameters does BERT have? The paper says 110M, the file on your disk says 109,482,240, and a summary tool may say
# 132,955,194. All of them can be explained. Nothing here needs PyTorch, and no weights are loaded: the answers follow from
# the description.

# %%
import glassformer as gf

bert = gf.spec("bert-base")
bert

# %% [markdown]
# ## Every parameter
#
# A row is a tensor; its formula is the product of its axes. Identical layers share one row.

# %%
gf.count("bert-base")

# %% [markdown]
# Conventions differ. A textbook that asks for "the weights" leaves out biases and norms, and often the pooler:

# %%
count = gf.count("bert-base", without="biases,norms,pooler")
print(f"{count.total:,} {count.convention}")

# %% [markdown]
# ## From 109,482,240 to 110M
#
# The pre-training model has a head on top. Its output matrix is the token table again (tied), so it adds far less than a second
# table of 23 million would. The bridge lists every line that differs, and the lines sum to the difference.

# %%
gf.bridge("bert-base", gf.count("bert-base", head="pretrain"))

# %% [markdown]
# ## Shapes
#
# The same program, with five tokens. `one head` is the matrix of a single head.

# %%
shapes = gf.shapes("bert-base", t=5)
shapes["layers.0.attention.weights"].shape, shapes["layers.0.attention.weights"].one_head

# %%
gf.shapes("layer", d_model=64, heads=2, d_k=32, d_v=16, t=5, convention="columns")

# %% [markdown]
# ## Equations
#
# One layer, as a paper would write it. X_l enters layer l.

# %%
gf.notation("layer", d_model=768, heads=12, t=5)

# %% [markdown]
# ## What it costs
#
# FLOPs are counted from the steps, not from a rule of thumb; the convention is below the table. The share of the scores
# grows with the length: they are the only part that grows with its square.

# %%
gf.cost("bert-base", t=512)

# %%
for t in (16, 64, 128, 256, 512):
    cost = gf.cost("bert-base", t=t)
    share = cost.parts["layers: attention: scores and mix"].flops / cost.flops
    print(f"{t:4} tokens {cost.flops / 1e9:6.1f} GFLOPs, {share:.1%} in scores and mix")

# %% [markdown]
# ## Is this right?
#
# A wrong answer is more useful with its cause. Here the full-width projections were multiplied by the number of heads:

# %%
gf.check("params", "attention", d_model=512, heads=8, claim=6553600)
