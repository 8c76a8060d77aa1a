"""Untrusted configs: gigantic, invalid, or of another model than the weights."""

import json
import random
import time

import numpy as np
import pytest
from checkpoint_files import CONFIG, bert_folder, tensors_of
from faults.mutants import peak_megabytes

from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.numbers.checkpoint import open_checkpoint
from glassformer.spec import EncoderSpec, field_rules

SIZES = ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings"]
SIZES += ["type_vocab_size"]
HUGE = [1000, 4000, 10**5, 10**6, 10**9, 2**31, 2**63, 10**18, 10**30]


def refusal(call, *given):
    with pytest.raises(GlassformerError) as caught:
        call(*given)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300, str(caught.value)
    return str(caught.value)


def hostile(chance):
    """One to three sizes of a config changed to something gigantic or at random."""
    names = chance.sample(SIZES[:3] + SIZES[4:], chance.randint(1, 3))  # more heads of less width would fit the same tensors
    return {
        name: chance.choice([chance.choice(HUGE), chance.randint(1, 10**6), CONFIG[name] * chance.choice([2, 10, 1000])])
        for name in names
    }


@pytest.mark.parametrize("count", [250, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_config_of_another_size_allocates_nothing(count, tmp_path, figure):
    open_for_model = pytest.importorskip("glassformer.model.checkpoints.loading").open_for_model
    folder, chance = bert_folder(tmp_path), random.Random(51)
    for opened in (open_checkpoint, open_for_model):
        opened(folder)
    times, before = [], peak_megabytes()
    for number in range(count):
        (folder / "config.json").write_text(json.dumps({**CONFIG, **hostile(chance)}), encoding="utf-8")
        start = time.process_time()
        refusal(open_for_model if number % 2 else open_checkpoint, folder)
        times.append(time.process_time() - start)
    grown, middle, last = peak_megabytes() - before, sorted(times)[count // 2], sorted(times)[count * 99 // 100]
    assert grown < 32
    assert middle < 0.05
    figure("F7", f"{count:,} of {count:,} refused, +{grown:.0f} MB, median {1000 * middle:.1f} ms, 99 % within "
           f"{1000 * last:.1f} ms", cases=count)  # fmt: skip


def test_a_new_model_larger_than_memory_allocates_nothing(figure):
    Encoder = pytest.importorskip("glassformer.model").Encoder
    chance, count, before = random.Random(52), 40, peak_megabytes()
    for _ in range(count):
        width = 2 ** chance.randint(17, 29)
        said = refusal(
            Encoder, EncoderSpec(d_model=width, heads=8, layers=chance.choice([1, 6, 12]), vocab=chance.choice([None, 10**9]))
        )
        assert "Nothing was allocated." in said
    grown = peak_megabytes() - before
    assert grown < 32
    figure("F7", f"{count} gigantic new models refused, +{grown:.0f} MB", cases=count)


BAD = [0, -1, -12, 1.5, "12", "", True, [], {}, float("nan"), float("inf"), 10**30, 2**63]
BAD_NUMBERS = [float("nan"), -1.0, -1e-12, "x", [], {}, True, float("inf"), 0]


def test_five_hundred_senseless_values_are_refused_by_key_and_value(figure):
    refused = 0
    for key in [*SIZES, "layer_norm_eps", "hidden_act", "position_embedding_type"]:
        values = BAD_NUMBERS if key == "layer_norm_eps" else BAD
        if key in ("hidden_act", "position_embedding_type"):
            values = ["__import__('os')", "gelu()", "", "../gelu", 3, [], {}, True, "GELU\n"]
        for value in values[1:] if key == "num_hidden_layers" else values:  # no layers at all is an encoder, too
            said = refusal(from_config, {**CONFIG, key: value})
            assert key in said, (key, value, said)
            refused += 1
    chance = random.Random(53)
    rules = [rule for rule in field_rules().values() if rule.kind in ("whole", "number", "choice")]
    start = EncoderSpec()
    while refused < 500:
        rule = chance.choice(rules)
        wrong = {
            "whole": [rule.least - 1, rule.most + 1, 1.5, [], "x"],
            "number": ["x", float("nan"), -1.0, []],
            "choice": ["x", 3.5, []],
        }
        said = refusal(accepted, rule.name, chance.choice(wrong[rule.kind]))
        assert said.startswith(rule.name), said
        refused += 1
    assert accepted("layers", 3) == start.replace(layers=3).layers
    figure("F8", f"{refused} of {refused} refused, with name and value", cases=refused)


def accepted(name, value):
    from glassformer.spec.fields import accept

    return accept(name, value)


def disagreement(chance, tensors):
    """Weights with one tensor missing, of another size, or too many; what the message must name."""
    name = chance.choice(list(tensors))
    kind = chance.randrange(4)
    if kind == 0:
        return {key: value for key, value in tensors.items() if key != name}, name
    if kind == 1:
        return {**tensors, name: np.zeros((*tensors[name].shape[:-1], tensors[name].shape[-1] + 1), dtype=np.float32)}, name
    if kind == 2:
        extra = f"encoder.layer.0.attention.self.{chance.choice(['extra', 'query2', 'bias_table'])}.weight"
        return {**tensors, extra: np.zeros(3, dtype=np.float32)}, extra
    return {(f"{key}_2" if key == name else key): value for key, value in tensors.items()}, name


@pytest.mark.parametrize("count", [60, pytest.param(1_000, marks=pytest.mark.slow)])
def test_weights_that_do_not_fit_are_refused_by_name(count, tmp_path, figure):
    tensors, chance = tensors_of(CONFIG), random.Random(54)
    for _ in range(count):
        changed, name = disagreement(chance, tensors)
        said = refusal(open_checkpoint, bert_folder(tmp_path, tensors=changed))
        assert name.removesuffix(".weight") in said or "pooler" in name, (name, said)
    figure("F9", f"{count:,} of {count:,} refused with the tensor named", cases=count)
