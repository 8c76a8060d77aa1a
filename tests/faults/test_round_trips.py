"""Round trips: an exported model opens elsewhere, comes back, and is identical bit for bit."""

import random
import shutil

import numpy as np
import pytest
from tiny_models import BUILT, BUILT_VARIANTS, all_in_float64, farthest, guest, inputs_for, model_of, save

COUNTS = [8, pytest.param(1_000, marks=pytest.mark.slow)]
UNLIKE = ("transformers_version", "dtype", "torch_dtype", "architectures")
SIZES = {
    "num_hidden_layers": [1, 2, 3, 4, 5],
    "n_layers": [1, 2, 3],
    "num_layers": [1, 2, 3],
    "encoder_layers": [1, 2, 3],
    "vocab_size": [37, 41, 53],
    "intermediate_size": [8, 20, 24],
    "hidden_dim": [8, 20, 24],
    "d_ff": [8, 20],
    "encoder_ffn_dim": [8, 20],
    "max_position_embeddings": [19, 24],
    "num_labels": [2, 3, 5],
}
TEN_DIGITS = ("gelu_fast",)  # transformers writes √(2/π) with ten digits there: its numbers are off by some 1e-12, ours are not
WIDTHS = {"hidden_size": "num_attention_heads", "dim": "n_heads", "d_model": "encoder_attention_heads"}


def drawn(count, chance):
    """So many models: every class and variant in turn, its layers, heads, widths and tables drawn where its config has them."""
    every = chance.sample([*BUILT, *BUILT_VARIANTS], len(BUILT) + len(BUILT_VARIANTS))
    for number in range(count):
        case = every[number % len(every)]
        config, changes = case.config, dict(case.changes)
        free = {key for key in config if key not in changes and isinstance(config[key], int)}
        if any(key.endswith("_groups") and config[key] != 1 for key in config):  # grouped projections divide their widths
            free -= {"intermediate_size", *WIDTHS}
        if "coordinate_size" in config:  # the vectors of a box, side by side, are as wide as a token's
            free -= {*WIDTHS}
        for key in sorted(SIZES.keys() & free):
            if chance.random() < 0.5 and not (key == "num_labels" and case.model_class.endswith("ForQuestionAnswering")):
                least = config[key] if key in ("vocab_size", "num_hidden_layers") else 0
                changes[key] = chance.choice([value for value in SIZES[key] if value >= least])
        for width, heads in WIDTHS.items():
            if {width, heads} <= free and chance.random() < 0.5:
                changes[width] = chance.choice([1, 2]) * config[width]
                changes[heads] = chance.choice([n for n in (1, 2, 3, 4) if changes[width] % (2 * n) == 0])
        yield type(case)(case.family, case.model_class, changes)


@pytest.mark.parametrize("count", COUNTS)
def test_an_exported_model_comes_back_bit_for_bit(count, tmp_path, figure):
    torch, model = guest("torch"), guest("glassformer.model")
    guest("transformers")
    from glassformer.model.checkpoints.answers import our_answer
    from glassformer.model.checkpoints.original import open_original, quiet, run_original

    there, again = tmp_path / "there", tmp_path / "again"
    classes, tensors, worst = set(), 0, 0.0
    for number, case in enumerate(drawn(count, random.Random(61))):
        with quiet():
            theirs = save(model_of(case, seed=number), there)
        loaded = model.load(theirs, as_class=case.model_class, dtype="float64")
        back = model.load(loaded.save(again), as_class=case.model_class, dtype="float64")
        for (name, ours), (_, came) in zip(loaded.encoder.ledger(), back.encoder.ledger(), strict=True):
            assert torch.equal(ours, came), (case.name, name)
            tensors += 1
        assert back.folder.spec == loaded.folder.spec
        config = {key: value for key, value in loaded.folder.config.items() if key not in UNLIKE}
        assert config == {key: back.folder.config.get(key) for key in config}, case.name
        with all_in_float64():  # its tables of angles too
            opened, first = (open_original(folder) for folder in (back.folder, loaded.folder))
        assert all(torch.equal(*pair) for pair in zip(opened.parameters(), first.parameters(), strict=True)), case.name
        given = {name: value.astype(bool) if name == "attend" else value for name, value in inputs_for(case, padded=True).items()}
        with all_in_float64(), quiet():
            wanted = run_original(opened, back.folder, given)
        ours = our_answer(back.encoder, given)
        gap = farthest(ours, wanted, given.get("attend", np.ones(ours.hidden[0].shape[:2], dtype=bool)))
        short = loaded.folder.config.get("hidden_act") in TEN_DIGITS
        assert gap <= (1e-11 if short else 1e-12), case.name
        worst = worst if short else max(worst, gap)
        classes.add(case.model_class)
        for folder in (there, again):
            shutil.rmtree(folder)
    figure("F15", f"{count:,} random models of {len(classes)} classes, {tensors:,} tensors: bits and keys identical, here and in "
           f"transformers; every hidden state of both in float64 agrees within {worst:.1g}", cases=count)  # fmt: skip
