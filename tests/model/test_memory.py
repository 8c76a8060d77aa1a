"""The bytes that `gf.cost` predicts, beside those that a training step really holds: within a tenth."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

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
