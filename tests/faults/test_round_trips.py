"""Out and in again: what is exported opens elsewhere, comes back, and is the same to the bit."""

import random

import pytest
from tiny_models import CASES, VARIANTS, guest, model_of, save

COUNTS = [8, pytest.param(1_000, marks=pytest.mark.slow)]


def drawn(chance):
    """A class that is read, its layers, heads, widths and vocabulary drawn where its config has them."""
    case = chance.choice([*CASES, *VARIANTS])
    config, changes = case.config, dict(case.changes)
    for key, values in {
        "num_hidden_layers": [1, 2, 3],
        "vocab_size": [37, 41, 53],
        "intermediate_size": [8, 20, 24],
        "max_position_embeddings": [19, 24],
        "num_layers": [1, 2],
        "d_ff": [8, 20],
        "encoder_layers": [1, 2],
        "encoder_ffn_dim": [8, 20],
    }.items():
        if key in config and key not in changes and isinstance(config[key], int) and chance.random() < 0.5:
            changes[key] = chance.choice([value for value in values if value >= config[key]] or [config[key]])
    return type(case)(case.family, case.model_class, changes)


@pytest.mark.parametrize("count", COUNTS)
def test_what_is_exported_comes_back_to_the_bit(count, tmp_path, figure):
    torch, model = guest("torch"), guest("glassformer.model")
    guest("transformers")
    from glassformer.model.original import open_original

    chance = random.Random(61)
    tensors, worst = 0, 0.0
    for number in range(count):
        case = drawn(chance)
        there = tmp_path / "there"
        theirs = save(model_of(case, seed=number), there)
        loaded = model.load(theirs, as_class=case.model_class, dtype="float64")
        again = loaded.save(tmp_path / "again")
        back = model.load(again, as_class=case.model_class, dtype="float64")
        for (name, ours), (_, came) in zip(loaded.encoder.ledger(), back.encoder.ledger(), strict=True):
            assert torch.equal(ours, came), (case.name, name)
            tensors += 1
        assert back.folder.spec == loaded.folder.spec
        config = {key: value for key, value in loaded.folder.config.items() if key not in UNLIKE}
        assert config == {key: back.folder.config.get(key) for key in config}, case.name
        opened = dict(open_original(back.folder).named_parameters())
        first = dict(open_original(loaded.folder).named_parameters())
        assert opened.keys() == first.keys()
        worst = max([worst, *((opened[key] - first[key]).abs().max().item() for key in first if first[key].numel())])
        for folder in (there, tmp_path / "again"):
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
    assert worst == 0.0
    figure("F15", f"{count:,} random models of {len(CASES)} classes, {tensors:,} tensors: every bit and key the same, "
           "here and in transformers", cases=count)  # fmt: skip


UNLIKE = ("transformers_version", "dtype", "torch_dtype", "architectures")
