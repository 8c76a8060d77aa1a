"""What is this encoder? EncoderSpec and its relatives: fields, sizes that follow from them, and the rules between them."""

import sys
from types import ModuleType
from typing import Any

from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.encoder_fields import (
    ALL_BIASES,
    GATES,
    MASKED_HEADS,
    TOKEN_HEADS,
    BiasPlace,
    NormKind,
    defaults,
    field_docs,
)
from glassformer.spec.encoder_sizes import token_names
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import field_rules
from glassformer.spec.seq2seq_spec import Seq2SeqSpec

__all__ = [
    "ALL_BIASES",
    "GATES",
    "MASKED_HEADS",
    "TOKEN_HEADS",
    "BiasPlace",
    "DecoderSpec",
    "EncoderSpec",
    "NormKind",
    "Seq2SeqSpec",
    "defaults",
    "field_docs",
    "field_rules",
    "token_names",
]


class _CallableModule(ModuleType):
    """Makes the package callable: `gf.spec("bert-base", layers=8)`."""

    def __call__(self, *what: Any, **fields: Any) -> EncoderSpec:
        from glassformer.configs.reading import spec

        return spec(*what, **fields)


sys.modules[__name__].__class__ = _CallableModule
