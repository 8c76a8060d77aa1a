"""The bytes that `gf.cost` predicts, against those that a training step actually uses: within a tenth."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

SMALL = {"d_model": 128, "heads": 2, "d_ff": 512}
CASES = {
    "float32": {"dtype": "float32", "batch": 4, "t": 64},
    "masked tokens": {"dtype": "float32", "batch": 8, "t": 32, "head": "mlm"},
    "autocast": {"dtype": "bfloat16", "batch": 4, "t": 64},
    "grouped queries": {"dtype": "float32", "batch": 4, "t": 64, "heads": 8, "kv_heads": 2},
    "windows and gates": {
        "name": "modernbert-base",
        "dtype": "float32",
        "batch": 2,
        "t": 64,
        "d_model": 96,
        "heads": 2,
        "d_ff": 144,
    },
    "a bias by distance": {"dtype": "float32", "batch": 2, "t": 128, "position": "learned_relative"},
    "a bias by distance, autocast": {"dtype": "bfloat16", "batch": 2, "t": 128, "position": "learned_relative"},
    "a bias by distance, dropout": {"dtype": "float32", "batch": 2, "t": 128, "position": "learned_relative", "dropout": 0.1},
    "checkpointing": {"dtype": "float32", "batch": 8, "t": 64, "layers": 6, "checkpointing": True},
    "checkpointing, masked tokens": {"dtype": "float32", "batch": 8, "t": 64, "layers": 6, "checkpointing": True, "head": "mlm"},
    "checkpointing, windows and gates": {
        "name": "modernbert-base", "dtype": "float32", "batch": 4, "t": 64, "d_model": 96, "heads": 2, "d_ff": 144,
        "layers": 6, "checkpointing": True,
    },
    "checkpointing, disentangled": {
        "name": "deberta-v3-base", "dtype": "float32", "batch": 4, "t": 64, **SMALL, "layers": 6, "checkpointing": True,
    },
    "T5": {"name": "t5-small", "dtype": "float32", "batch": 4, "t": 128, **SMALL, "d_k": 64},
    "T5, many short texts": {"name": "t5-small", "dtype": "float32", "batch": 32, "t": 16, **SMALL, "d_k": 64, "head": "mlm"},
    "T5, a table a layer": {"name": "t5-small", "dtype": "float32", "batch": 4, "t": 64, **SMALL, "relative_tables": "per_layer"},
    "disentangled": {"name": "deberta-v3-base", "dtype": "float32", "batch": 4, "t": 64, **SMALL},
    "disentangled, many short texts": {"name": "deberta-v3-base", "dtype": "float32", "batch": 32, "t": 16, **SMALL},
    "disentangled, one long text": {"name": "deberta-v3-base", "dtype": "float32", "batch": 1, "t": 300, **SMALL, "layers": 5},
    "disentangled, autocast": {"name": "deberta-v3-base", "dtype": "bfloat16", "batch": 4, "t": 64, **SMALL, "head": "mlm"},
    "disentangled, grouped queries": {
        "name": "deberta-v3-base", "dtype": "float32", "batch": 4, "t": 64, **SMALL, "heads": 8, "kv_heads": 2,
        "relative_terms": "content_to_position", "relative_projections": "own",
    },
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_training_step_holds_what_was_predicted(case):
    import memory

    sizes = {"name": "bert-tiny", "vocab": 2000, "layers": 3} | case
    found = memory.counted(train=True, **sizes)
    assert 0.9 < found["ratio"] < 1.1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("name", "within"), [("bert-tiny", 0.03), ("modernbert-base", 0.07)])
def test_a_pass_forward_holds_no_more_than_it_needs(name, within, dtype):
    import memory

    sizes = {"vocab": 100, "layers": 2, "d_model": 96, "heads": 2, "d_ff": 384, "batch": 8, "t": 64}
    found = memory.counted(name, train=False, dtype=dtype, **sizes)
    assert found["ratio"] == pytest.approx(1, abs=within)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "geglu"])
def test_the_activation_reuses_the_memory_of_the_pre_activations(activation):
    import memory

    sizes = {"vocab": 100, "layers": 2, "d_model": 96, "heads": 2, "d_ff": 384, "batch": 8, "t": 64}
    found = memory.counted("bert-tiny", train=False, dtype="float32", activation=activation, **sizes)
    assert found["ratio"] == pytest.approx(1, abs=0.02)
