# Train, look inside, check, as a script. `python docs/notebooks/build.py` makes the notebook from it.

# %% [markdown]
# # Train, look inside, check
#
# 1,797 handwritten digits of 8 × 8 pixels, an encoder that reads them as 16 patches, some epochs. This one needs PyTorch.
#
# ## Train

# %% varies
# !glassformer train digits patch=2 layers=2 class_tokens=1 pool=first --epochs 12 --lr 0.003 --out runs/digits

# %% varies
import glassformer as gf

gf.curves("runs/digits")

# %% [markdown]
# The trained encoder, drawn from its description:

# %%
gf.spec("runs/digits")

# %% [markdown]
# ## Look inside
#
# The run folder holds the best weights. They are opened without PyTorch and run in float64, with every number kept by name.

# %%
import numpy as np

from glassformer.numbers import open_checkpoint
from glassformer.training.data import load_data

digits = load_data("digits")
model = open_checkpoint("runs/digits/best")
picture = digits.test.inputs[0] * (2.0 / digits.test.inputs.white) - 1.0  # black is −1, white is 1
run = model.run(image=picture)
print("a", digits.labels[digits.test.targets[0]], "of shape", picture.shape)

# %% varies
print("the model says", digits.labels[int(np.argmax(run["head.logits"]))])
run.attention(layer=1)

# %% [markdown]
# The largest logit, and its terms:

# %% varies
best = int(np.argmax(run["head.logits"]))
run.explain("head.logits", **{"class": best})

# %% [markdown]
# Without head 0 of the last layer:

# %% varies
gf.knock_out(run, 1, 0)

# %% [markdown]
# ## Check
#
# The trained file contains exactly the tensors that the algebra predicts, and two implementations that share no code agree:

# %%
assert model.parameters == gf.count(model.spec).total
print(f"{model.parameters:,} parameters, as counted")

# %% varies
# !glassformer verify runs/digits/best

# %% [markdown]
# Everything on one page, to keep or to share:

# %% varies
# !glassformer report runs/digits --out report.html
