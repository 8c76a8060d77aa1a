"""Beam search on a CPU, one thread, float32: `Translator` beside CTranslate2 and `generate` of transformers, on the same weights.

    PYTHONPATH=src python bench/translation_cpu.py [--run RUN] [--sources 48] [--rounds 3]      (needs: pip install ctranslate2)

RUN is a run of `train … opus-mt-en-fr`; without one, the model has that spec's sizes (6 + 6 layers, 512 wide) and random weights,
so that every translation has `--tokens` new tokens. The ways take turns; processor seconds are compared, which other work on the
machine changes little. Sources are token ids: neither tokenizing nor loading is timed.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from glassformer.model.generation.settings import Choice
from glassformer.model.generation.translations import Translator
from glassformer.training.data import load_data

BEAMS, VOCAB = 4, 16_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--sources", type=int, default=48)
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--generate", action="store_true", help="time transformers, too")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        folder = random_model(Path(place)) if chosen.run is None else chosen.run / "best"
        translator = Translator(folder)
        sources = source_ids(translator, chosen.sources, random=chosen.run is None)
        ways = {"glassformer": lambda: ours(translator, sources, chosen.tokens)}
        ways["CTranslate2"] = ctranslate2_way(folder, Path(place) / "converted", translator, sources, chosen.tokens)
        if chosen.generate:
            ways["generate"] = generate_way(folder, translator, sources, chosen.tokens)
        found = {name: way() for name, way in ways.items()}  # a round to warm up, whose outputs are compared
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(chosen.rounds):
            for name, way in ways.items():
                began = processor_seconds()
                way()
                seconds[name].append(processor_seconds() - began)
    figures: dict[str, Any] = {"seconds": {name: median(values) for name, values in seconds.items()}, "rounds": seconds}
    figures["new_tokens"] = sum(map(len, found["glassformer"])) / len(sources)
    for name in list(ways)[1:]:
        ratios = [theirs / own for theirs, own in zip(seconds[name], seconds["glassformer"], strict=True)]
        same = sum(one == other for one, other in zip(found["glassformer"], found[name], strict=True))
        figures[name] = {"times_as_fast": median(ratios), "ratios": ratios, "same": f"{same} of {len(sources)}"}
    print(json.dumps(figures, indent=1))


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def random_model(place: Path) -> Path:
    """A model of Marian's sizes with random weights."""
    import transformers

    torch.manual_seed(0)
    names = {"layers": 6, "attention_heads": 8, "ffn_dim": 2048}
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in names.items()}
    special = {"eos_token_id": 0, "pad_token_id": VOCAB - 1, "decoder_start_token_id": VOCAB - 1}
    config = transformers.MarianConfig(
        **sides, **special, vocab_size=VOCAB, decoder_vocab_size=VOCAB, d_model=512, max_position_embeddings=512,
        activation_function="swish", scale_embedding=True, forced_eos_token_id=None,
    )  # fmt: skip
    model = transformers.MarianMTModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2 and "embed" not in name and "shared" not in name:
                torch.nn.init.xavier_uniform_(parameter)
    model.save_pretrained(place / "model")
    return place / "model"


def source_ids(translator: Translator, count: int, *, random: bool) -> list[list[int]]:
    """Test sentences as token ids; for random weights, ids of such lengths."""
    texts = [text for text in load_data("translation-en-fr").test.inputs if isinstance(text, str)][:count]
    if not random:
        return [list(one.ids) for one in translator.tokenizer.encode_batch(texts)]
    drawn = torch.Generator().manual_seed(1)
    ends = translator.tokens.ends[0]
    return [[*torch.randint(1, VOCAB - 1, (len(text.split()) + 3,), generator=drawn).tolist(), ends] for text in texts]


def ours(translator: Translator, sources: list[list[int]], most: int) -> list[list[int]]:
    return [one.tokens for one in translator.write(sources, Choice(beams=BEAMS, max_new_tokens=most))]


def marian(folder: Path, translator: Translator) -> Any:
    """The same weights as transformers' Marian."""
    import transformers

    model = transformers.MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").eval()
    special = {"eos_token_id": translator.tokens.ends[0], "pad_token_id": translator.tokens.padding}
    special["decoder_start_token_id"] = translator.tokens.start[0]
    for config in (model.config, model.generation_config):
        for name, value in special.items():
            setattr(config, name, value)
    return model


def ctranslate2_way(folder: Path, out: Path, translator: Translator, sources: list[list[int]], most: int) -> Callable[[], Any]:
    """Convert the weights, and translate them with CTranslate2 in float32."""
    import ctranslate2
    from ctranslate2.converters.transformers import BartLoader

    model = marian(folder, translator)
    model.config.normalize_before = model.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(model)
    words = [f"w{number}" for number in range(translator.written_spec.vocab or 0)]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    tokens = translator.tokens
    spec.config.bos_token, spec.config.unk_token = words[tokens.start[0]], words[tokens.padding]
    spec.config.eos_token, spec.config.decoder_start_token = words[tokens.ends[0]], words[tokens.start[0]]
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.validate()
    spec.optimize()
    out.mkdir()
    spec.save(str(out))
    peer = ctranslate2.Translator(str(out), device="cpu", compute_type="float32", intra_threads=1, inter_threads=1)
    batch = [[words[token] for token in source] for source in sources]

    def translate() -> list[list[int]]:
        found = peer.translate_batch(
            batch, beam_size=BEAMS, max_decoding_length=most, max_batch_size=16, batch_type="examples", length_penalty=1
        )
        return [[int(word[1:]) for word in one.hypotheses[0]] for one in found]

    return translate


def generate_way(folder: Path, translator: Translator, sources: list[list[int]], most: int) -> Callable[[], Any]:
    """`generate` of transformers, sorted, 16 sources at once."""
    model = marian(folder, translator)
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    pad, ends = translator.tokens.padding, translator.tokens.ends

    @torch.inference_mode()
    def translate() -> list[list[int]]:
        found: list[list[int]] = [[] for _ in sources]
        for start in range(0, len(order), 16):
            some = [sources[row] for row in order[start : start + 16]]
            longest = max(map(len, some))
            rows = torch.tensor([source + [pad] * (longest - len(source)) for source in some])
            real = torch.arange(longest) < torch.tensor([len(source) for source in some])[:, None]
            written = model.generate(rows, attention_mask=real, num_beams=BEAMS, max_new_tokens=most, do_sample=False)
            for row, one in zip(order[start : start + 16], written[:, 1:].tolist(), strict=True):
                stop = next((place for place, token in enumerate(one) if token in (*ends, pad)), len(one))
                found[row] = one[:stop]
        return found

    return translate


if __name__ == "__main__":
    main()
