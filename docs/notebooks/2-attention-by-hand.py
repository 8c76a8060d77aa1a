# Attention by hand, as a script. `python docs/notebooks/build.py` makes the notebook from it.

# %% [markdown]
# # Attention by hand
#
# A query of two numbers, two keys, two values. What does the word "flying" receive from "flying" and "arrows"?

# %%
import glassformer as gf

problem = {
    "title": "The word 'flying' attends to 'flying' and 'arrows'",
    "q": [0, 1],
    "k": {"flying": [1, 1], "arrows": [0, -1]},
    "v": {"flying": [1, 1], "arrows": [-1, -1]},
}
gf.work(problem)

# %% [markdown]
# Every step has its rule, the numbers inserted, and the result. Without the division by √d_k the softmax is sharper:

# %%
for scale in ("d_k", "none"):
    weights = gf.work(problem | {"scale": scale}).run["weights"]
    print(scale, weights.round(4))

# %% [markdown]
# ## A whole layer on four words
#
# No checkpoint is needed: a spec gets small legible weights from a seed. Equal words get equal vectors.

# %%
run = gf.run("layer", d_model=8, heads=2, d_ff=16, text="Tom a été entarté cet été", seed=3)
run

# %% [markdown]
# The attention weights: the two "été" have the same row and the same column, since this layer has no positions.

# %%
run.attention(layer=0)

# %% [markdown]
# ## Every number opens
#
# One number of the mix: a sum over the keys. Open a line to see its terms, down to inputs and weights.

# %%
run.explain("layers.0.attention.mix", head=0, t=1, d_v=2)

# %%
print(run.explain("layers.0.attention.weights", head=0, t=1, s=3).text(depth=2))

# %% [markdown]
# ## What if?
#
# Head 1 is set to zero: what changes, and by how much?

# %%
gf.knock_out(run, 0, 1)

# %% [markdown]
# ## A textbook claim, tested
#
# "Without positions, attention does not see the order of the words."

# %%
gf.experiment("order")
