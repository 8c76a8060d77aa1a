"""Tensor names of text encoders: BERT and its relatives, and the encoders of T5 and BART."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import Names, Table, half

# BERT ----------------------------------------------------------------------------------------------------------------

BERT_BODY: Table = {
    "embeddings.E_token": "embeddings.word_embeddings.weight",
    "embeddings.E_position": "embeddings.position_embeddings.weight",
    "embeddings.E_segment": "embeddings.token_type_embeddings.weight",
    "embeddings.norm": "embeddings.LayerNorm",
    "pooler.P": "pooler.dense",
}
BERT_LAYER: Table = {
    "attention.Q": "attention.self.query",
    "attention.K": "attention.self.key",
    "attention.V": "attention.self.value",
    "attention.O": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "ffn.1": "intermediate.dense",
    "ffn.2": "output.dense",
    "norm_2": "output.LayerNorm",
}
ON_TOKENS: Table = {"head.C": "classifier"}
ANSWERS: Table = {"head.C": "qa_outputs"}
BERT_PREDICTIONS: Table = {
    "head.H": "cls.predictions.transform.dense",
    "head.norm": "cls.predictions.transform.LayerNorm",
    "head.W_vocab": "cls.predictions.decoder.weight",
    "head.b_vocab": ("cls.predictions.bias", "cls.predictions.decoder.bias"),
    "head.b_spare": "cls.predictions.bias",
}
BERT_HEADS = {
    "ForMaskedLM": BERT_PREDICTIONS,
    "ForPreTraining": {**BERT_PREDICTIONS, "head.N": "cls.seq_relationship"},
    "ForNextSentencePrediction": {"head.C": "cls.seq_relationship"},
    "ForSequenceClassification": ON_TOKENS,
    "ForMultipleChoice": ON_TOKENS,
    "ForTokenClassification": ON_TOKENS,
    "ForQuestionAnswering": ANSWERS,
}
BERT = Names(prefixes=("bert.",), body=BERT_BODY, layers=(("encoder.layer.{n}.", BERT_LAYER),), heads=BERT_HEADS)
MEGATRON_BERT = replace(
    BERT,
    body={**BERT_BODY, "final_norm": "encoder.ln"},
    layers=(("encoder.layer.{n}.", {**BERT_LAYER, "norm_1": "attention.ln", "norm_2": "ln"}),),
)
REMBERT = replace(
    BERT,
    prefixes=("rembert.",),
    body={**BERT_BODY, "embeddings.E": "encoder.embedding_hidden_mapping_in"},
    heads={
        **BERT_HEADS,
        "ForMaskedLM": {
            "head.H": "cls.predictions.dense",
            "head.norm": "cls.predictions.LayerNorm",
            "head.vocab": "cls.predictions.decoder",
        },
    },
)
BIG_BIRD = replace(
    BERT,
    body={**BERT_BODY, "pooler.P": "pooler"},
    heads={
        **{name: table for name, table in BERT_HEADS.items() if "ForNext" not in name and "Answering" not in name},
        "ForSequenceClassification": {"head.H": "classifier.dense", "head.C": "classifier.out_proj"},
        "ForQuestionAnswering": {
            "head.ffn.1": "qa_classifier.intermediate.dense",
            "head.ffn.2": "qa_classifier.output.dense",
            "head.norm": "qa_classifier.output.LayerNorm",
            "head.C": "qa_classifier.qa_outputs",
        },
    },
)
JINA_BERT = replace(
    BERT,
    gated={
        "ffn.1": half("mlp.gated_layers", 0),  # input of the activation
        "ffn.3": half("mlp.gated_layers", 1),
        "ffn.2": "mlp.wo",
        "norm_2": "mlp.layernorm",
    },
)
SPLINTER = replace(BERT, prefixes=("splinter.",), heads={}, aside=("splinter_qass.",))
DPR = replace(
    BERT,
    prefixes=("question_encoder.bert_model.", "ctx_encoder.bert_model.", "span_predictor.encoder.bert_model."),
    own_prefix={"DPRContextEncoder": "ctx_encoder.bert_model."},
    heads={
        "DPRQuestionEncoder": {"head.P": "question_encoder.encode_proj"},
        "DPRContextEncoder": {"head.P": "ctx_encoder.encode_proj"},
    },
    aside=("span_predictor.qa_outputs.", "span_predictor.qa_classifier.", "span_predictor.encoder.encode_proj."),
)
CHINESE_CLIP_TEXT = replace(
    BERT,
    prefixes=("text_model.",),
    heads={},
    aside=("vision_model.", "visual_projection.", "text_projection.", "logit_scale"),
)

# RoBERTa -------------------------------------------------------------------------------------------------------------

ROBERTA_PREDICTIONS: Table = {
    "head.H": "lm_head.dense",
    "head.norm": "lm_head.layer_norm",
    "head.W_vocab": "lm_head.decoder.weight",
    "head.b_vocab": ("lm_head.bias", "lm_head.decoder.bias"),
    "head.b_spare": "lm_head.bias",
}
ROBERTA_CLASSIFIER: Table = {"head.H": "classifier.dense", "head.C": "classifier.out_proj"}
ROBERTA_HEADS = {
    **{name: table for name, table in BERT_HEADS.items() if "ForPre" not in name and "ForNext" not in name},
    "ForMaskedLM": ROBERTA_PREDICTIONS,
    "ForSequenceClassification": ROBERTA_CLASSIFIER,
}
ROBERTA = replace(BERT, prefixes=("roberta.",), heads=ROBERTA_HEADS)
IBERT = replace(  # additional buffers for integer arithmetic
    ROBERTA,
    prefixes=("ibert.",),
    buffers=(
        "act_scaling_factor",
        "fc_scaling_factor",
        "weight_scaling_factor",
        "weight_integer",
        "bias_integer",
        "x_min",
        "x_max",
        "shift",
    ),
)
ROBERTA_XL = replace(
    ROBERTA,
    body={**BERT_BODY, "final_norm": "encoder.LayerNorm"},
    layers=(("encoder.layer.{n}.", {**BERT_LAYER, "norm_1": "attention.self_attn_layer_norm", "norm_2": "LayerNorm"}),),
)
ROBERTA_PRE_NORM = replace(
    ROBERTA,
    prefixes=("roberta_prelayernorm.",),
    body={**BERT_BODY, "final_norm": "LayerNorm"},
    layers=(("encoder.layer.{n}.", {**BERT_LAYER, "norm_1": "attention.LayerNorm", "norm_2": "intermediate.LayerNorm"}),),
)
MPNET = replace(
    ROBERTA,
    prefixes=("mpnet.",),
    body={**BERT_BODY, "layers.E_relative": "encoder.relative_attention_bias.weight"},
    layers=(
        (
            "encoder.layer.{n}.",
            {
                **BERT_LAYER,
                "attention.Q": "attention.attn.q",
                "attention.K": "attention.attn.k",
                "attention.V": "attention.attn.v",
                "attention.O": "attention.attn.o",
                "norm_1": "attention.LayerNorm",
            },
        ),
    ),
)

LONGFORMER = replace(
    ROBERTA,
    prefixes=("longformer.",),
    layers=(
        (
            "encoder.layer.{n}.",
            {
                **BERT_LAYER,
                "attention.QG": "attention.self.query_global",
                "attention.KG": "attention.self.key_global",
                "attention.VG": "attention.self.value_global",
            },
        ),
    ),
)

# DistilBERT, ALBERT, ELECTRA -----------------------------------------------------------------------------------------

DISTILBERT = Names(
    prefixes=("distilbert.",),
    body={name: stored for name, stored in BERT_BODY.items() if name != "pooler.P"},
    layers=(
        (
            "transformer.layer.{n}.",
            {
                "attention.Q": "attention.q_lin",
                "attention.K": "attention.k_lin",
                "attention.V": "attention.v_lin",
                "attention.O": "attention.out_lin",
                "norm_1": "sa_layer_norm",
                "ffn.1": "ffn.lin1",
                "ffn.2": "ffn.lin2",
                "norm_2": "output_layer_norm",
            },
        ),
    ),
    heads={
        "ForMaskedLM": {"head.H": "vocab_transform", "head.norm": "vocab_layer_norm", "head.vocab": "vocab_projector"},
        "ForSequenceClassification": {"head.H": "pre_classifier", "head.C": "classifier"},
        "ForMultipleChoice": {"head.H": "pre_classifier", "head.C": "classifier"},
        "ForTokenClassification": ON_TOKENS,
        "ForQuestionAnswering": ANSWERS,
    },
)
ALBERT_PREDICTIONS: Table = {
    "head.H": "predictions.dense",
    "head.norm": "predictions.LayerNorm",
    "head.W_vocab": "predictions.decoder.weight",
    "head.b_vocab": ("predictions.bias", "predictions.decoder.bias"),
    "head.b_spare": "predictions.bias",
}
ALBERT = Names(
    prefixes=("albert.",),
    body={**BERT_BODY, "embeddings.E": "encoder.embedding_hidden_mapping_in", "pooler.P": "pooler"},
    layers=(
        (
            "encoder.albert_layer_groups.{group}.albert_layers.{inner}.",
            {
                "attention.Q": "attention.query",
                "attention.K": "attention.key",
                "attention.V": "attention.value",
                "attention.O": "attention.dense",
                "norm_1": "attention.LayerNorm",
                "ffn.1": "ffn",
                "ffn.2": "ffn_output",
                "norm_2": "full_layer_layer_norm",
            },
        ),
    ),
    heads={
        **BERT_HEADS,
        "ForMaskedLM": ALBERT_PREDICTIONS,
        "ForPreTraining": {**ALBERT_PREDICTIONS, "head.N": "sop_classifier.classifier"},
    },
)
ELECTRA = replace(
    BERT,
    prefixes=("electra.",),
    body={**BERT_BODY, "embeddings.E": "embeddings_project"},
    heads={
        "ForMaskedLM": {
            "head.H": "generator_predictions.dense",
            "head.norm": "generator_predictions.LayerNorm",
            "head.vocab": "generator_lm_head",
        },
        "ForPreTraining": {
            "head.H": "discriminator_predictions.dense",
            "head.C": "discriminator_predictions.dense_prediction",
        },
        "ForSequenceClassification": ROBERTA_CLASSIFIER,
        "ForMultipleChoice": {"head.H": "sequence_summary.summary", "head.C": "classifier"},
        "ForTokenClassification": ON_TOKENS,
        "ForQuestionAnswering": ANSWERS,
    },
)

# T5 and BART ---------------------------------------------------------------------------------------------------------

T5_TABLE = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
T5 = Names(
    prefixes=("transformer.",),
    body={
        "embeddings.E_token": ("shared.weight", "encoder.embed_tokens.weight"),
        "layers.E_relative": T5_TABLE,
        "final_norm": "encoder.final_layer_norm",
    },
    layers=(
        (
            "encoder.block.{n}.",
            {
                "attention.Q": "layer.0.SelfAttention.q",
                "attention.K": "layer.0.SelfAttention.k",
                "attention.V": "layer.0.SelfAttention.v",
                "attention.O": "layer.0.SelfAttention.o",
                "E_relative": "layer.0.SelfAttention.relative_attention_bias.weight",
                "norm_1": "layer.0.layer_norm",
                "ffn.1": "layer.1.DenseReluDense.wi",
                "ffn.2": "layer.1.DenseReluDense.wo",
                "norm_2": "layer.1.layer_norm",
            },
        ),
    ),
    gated={"ffn.1": "layer.1.DenseReluDense.wi_0", "ffn.3": "layer.1.DenseReluDense.wi_1"},
    heads={"ForTokenClassification": ON_TOKENS},
    aside=("decoder.", "lm_head.", "transformer.decoder.", "classification_head.", "qa_outputs."),
)
LLAMA_ATTENTION: Table = {
    "attention.Q": "self_attn.q_proj",
    "attention.K": "self_attn.k_proj",
    "attention.V": "self_attn.v_proj",
    "attention.O": "self_attn.o_proj",
}
BART_SHARED = ("model.shared.weight", "shared.weight")
BART = Names(
    prefixes=("model.encoder.", "encoder."),
    body={
        "embeddings.E_token": ("embed_tokens.weight", *(f"/{name}" for name in BART_SHARED)),
        "embeddings.E_position": "embed_positions.weight",
        "embeddings.norm": "layernorm_embedding",
        "final_norm": "layer_norm",
    },
    layers=(
        (
            "layers.{n}.",
            {
                **LLAMA_ATTENTION,
                "attention.O": "self_attn.out_proj",
                "norm_1": "self_attn_layer_norm",
                "ffn.1": "fc1",
                "ffn.2": "fc2",
                "norm_2": "final_layer_norm",
            },
        ),
    ),
    shared=BART_SHARED,
    aside=("model.decoder.", "decoder.", "lm_head.", "classification_head.", "qa_outputs."),
)


NAMES: dict[str, Names] = {
    "bert": BERT,
    "jina_bert": JINA_BERT,
    "big_bird": BIG_BIRD,
    "ernie": replace(
        BERT, prefixes=("ernie.",), body={**BERT_BODY, "embeddings.E_task": "embeddings.task_type_embeddings.weight"}
    ),
    "megatron-bert": MEGATRON_BERT,
    "rembert": REMBERT,
    "bert-generation": replace(BERT, heads={}, aside=("lm_head.",)),
    "splinter": SPLINTER,
    "dpr": DPR,
    "chinese_clip_text_model": CHINESE_CLIP_TEXT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "ibert": IBERT,
    "data2vec-text": replace(ROBERTA, prefixes=("data2vec_text.",)),
    "xlm-roberta-xl": ROBERTA_XL,
    "roberta-prelayernorm": ROBERTA_PRE_NORM,
    "mpnet": MPNET,
    "longformer": LONGFORMER,
    "distilbert": DISTILBERT,
    "albert": ALBERT,
    "electra": ELECTRA,
    **dict.fromkeys(("t5", "mt5", "umt5"), T5),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot", "blenderbot-small"), BART),
}
