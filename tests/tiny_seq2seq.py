"""Small random encoder-decoders of the families that are read, made with transformers."""

from tiny_models import all_in_float64, guest

SPECIAL = {"vocab_size": 37, "d_model": 12, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
T5 = {
    **SPECIAL,
    "d_kv": 5,
    "d_ff": 20,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
}
BART = {
    **SPECIAL, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 20, "decoder_layers": 3,
    "decoder_attention_heads": 2, "decoder_ffn_dim": 16, "max_position_embeddings": 19,
}  # fmt: skip
WHISPER = {
    **BART,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_mel_bins": 5,
    "max_source_positions": 7,
    "max_target_positions": 9,
}
WHISPER = {key: value for key, value in WHISPER.items() if key != "max_position_embeddings"}
WHISPER |= {"decoder_attention_heads": 3, "decoder_ffn_dim": 20}
AS_DEEP = {"num_layers": 3, "encoder_layers": 3}  # as the decoders: transformers' cache has as many layers as the encoder
FAMILIES = {
    "T5ForConditionalGeneration": T5,
    "UMT5ForConditionalGeneration": T5,
    "MT5ForConditionalGeneration": {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "T5Model": {**T5, "num_layers": 3},
    "BartForConditionalGeneration": {**BART, "scale_embedding": True},
    "BartModel": BART,
    "MBartForConditionalGeneration": BART,
    "PegasusForConditionalGeneration": BART,
    "MarianMTModel": {**BART, "decoder_vocab_size": 37},
    "BlenderbotSmallForConditionalGeneration": {**BART, "scale_embedding": True},
    "M2M100ForConditionalGeneration": BART,
    "WhisperForConditionalGeneration": WHISPER,
}


def tiny(name, **changes):
    """A random model of transformers, in float64."""
    from glassformer.model.checkpoints.loading import split_sinusoids

    torch, transformers = guest("torch"), guest("transformers")
    model_class = getattr(transformers, name)
    config = model_class.config_class(**(FAMILIES[name] | changes))
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    with all_in_float64(), torch.no_grad():
        model = model_class(config).to(torch.float64).eval()
        for word, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.randn_like(parameter) * 0.4 + ("norm" in word.lower() and word.endswith("weight")))
        if name == "MarianMTModel":  # its waves are computed in float32, whatever the model is in
            for stack in (model.model.encoder, model.model.decoder):
                stack.embed_positions.weight.copy_(split_sinusoids(*stack.embed_positions.weight.shape))
        if getattr(model, "final_logits_bias", None) is not None:
            model.final_logits_bias.normal_()
    return model


WORDS = ["<pad>", "<s>", "</s>", "a", "small", "house", "une", "petite", "maison"]
OF_WORDS = "transformer layers=2 d_model=16 heads=2 d_ff=24 vocab=9"


def saved_translator(folder):
    """A random model in our own layout with a tokenizer of words; <pad> and <s> are never written."""
    import glassformer as gf

    torch, tokenizers = guest("torch"), guest("tokenizers")
    torch.manual_seed(3)
    saved = gf.save(gf.Seq2Seq(gf.spec(OF_WORDS)), folder)
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<pad>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(WORDS[:3])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    tokenizer.save(str(saved / "tokenizer.json"))
    (saved / "generation_config.json").write_text('{"eos_token_id": 2, "decoder_start_token_id": 1, "bad_words_ids": [[0], [1]]}')
    return saved
