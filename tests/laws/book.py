"""All laws and witnesses, by name."""

from laws import of_algebra, of_attention, of_sequences, of_training, of_weights
from laws.law import LAWS
from laws.witnesses import WITNESSES

PAGES = (of_sequences, of_weights, of_attention, of_algebra, of_training)  # importing a page enters its laws
ALL = {**LAWS, **WITNESSES}

__all__ = ["ALL", "LAWS", "PAGES", "WITNESSES"]
