"""Loading: every family against transformers, strictness, and the message for every kind of bad folder."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checkpoint_files import CONFIG, bert_folder, file_bytes, header_and_data, sharded, tensors_of
from tiny_models import BUILT, BUILT_VARIANTS, Case, all_in_float64, farthest, guest, inputs_for, model_of, save

from glassformer import model as room
from glassformer.checkpoints.matching import MismatchError
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.boundary import start
from glassformer.model.checkpoints.answers import our_answer
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.checkpoints.original import run_original
from glassformer.numbers import open_checkpoint
from glassformer.spec import EncoderSpec

MASKED = {**CONFIG, "architectures": ["BertForMaskedLM"]}

# One of each kind; `make test-slow` runs the rest.
ORDINARY = """
    BertModel BertForPreTraining RobertaForMaskedLM XLMRobertaForTokenClassification DistilBertForSequenceClassification
    ElectraForMaskedLM MPNetModel ModernBertForMaskedLM NomicBertModel T5EncoderModel BartEncoder MarianEncoder
    ViTForImageClassification DeiTForImageClassificationWithTeacher CLIPTextModelWithProjection SiglipVisionModel
    BertForMaskedLM-tie_word_embeddings=False AlbertForMaskedLM-num_hidden_layers=6-num_hidden_groups=2-inner_group_num=2
    Dinov2Model-use_swiglu_ffn=True-use_mask_token=False
    BeitModel-use_shared_relative_position_bias=True-use_relative_position_bias=False
    MobileBertForMaskedLM LayoutLMForTokenClassification LayoutLMv3Model NystromformerModel FunnelModel XLMWithLMHeadModel
    Wav2Vec2ForCTC-adapter_attn_dim=5-do_stable_layer_norm=True
""".split()


def some_slow(cases: list[Case]) -> list[Any]:
    """The cases, those marked slow that are not among the ordinary ones."""
    assert set(ORDINARY) <= {case.name for case in cases}
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(case, id=case.name, marks=marks[case.name in ORDINARY]) for case in cases]


def refusal(folder: Path, **options: Any) -> str:
    with pytest.raises(GlassformerError) as caught:
        load_encoder(folder, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300
    return str(caught.value)


@pytest.mark.parametrize("case", some_slow([*BUILT, *BUILT_VARIANTS]))
def test_a_loaded_model_computes_what_transformers_computes(case, tmp_path):
    original = model_of(case)
    save(original, tmp_path)
    double, single = (load_encoder(tmp_path, as_class=case.model_class, dtype=dtype) for dtype in ("float64", "float32"))
    assert double.verdict == "exact"
    assert sum(value.numel() for value in double.encoder.parameters()) == sum(value.numel() for value in original.parameters())
    for padded in (False, True):
        given = inputs_for(case, padded=padded)
        if padded and "attend" not in given:
            continue  # an image has no padding
        given = {name: value.astype(bool) if name == "attend" else value for name, value in given.items()}
        with all_in_float64():
            theirs = run_original(original, double.folder, given)
        ours = our_answer(double.encoder, given)
        real = given.get("attend", np.ones(ours.hidden[0].shape[:2], dtype=bool))
        assert farthest(ours, theirs, real) < 1e-10
        # Norms that only scale let numbers grow from layer to layer, and their rounding with them.
        bound = 1e-4 if single.encoder.spec.norm_kind == "scale" else 1e-5
        assert farthest(our_answer(single.encoder, given), theirs, real) < bound


# Strictness ------------------------------------------------------------------------------------------------------------


def test_weights_arrive_bit_by_bit(tmp_path):
    folder = bert_folder(tmp_path)
    weights = open_checkpoint(folder).weights
    for name, parameter in load_encoder(folder).encoder.ledger():
        assert (parameter.numpy() == weights[name].astype(np.float32)).all(), name


@pytest.mark.parametrize("stored", ["float64", "float32", "float16"])
@pytest.mark.parametrize("dtype", ["float64", "fp32", "bf16", torch.float16])
def test_any_type_is_read_into_any_other(tmp_path, stored, dtype):
    tensors = tensors_of(CONFIG, dtype=stored)
    encoder = load_encoder(bert_folder(tmp_path, tensors=tensors), dtype=dtype).encoder
    wanted = torch.as_tensor(tensors["pooler.dense.weight"]).to(encoder.here.dtype)
    assert torch.equal(dict(encoder.ledger())["pooler.W_P"].t(), wanted)


def test_bfloat16_arrives_exactly(tmp_path):
    original = model_of(Case("bert", "BertModel")).to(torch.bfloat16)
    encoder = load_encoder(save(original, tmp_path), dtype="bfloat16").encoder
    assert torch.equal(encoder.layers["1"].ffn.wide.weight, original.encoder.layer[1].intermediate.dense.weight)


def test_an_unknown_type_is_refused(tmp_path):
    assert refusal(bert_folder(tmp_path), dtype="float23").startswith("dtype=float23 is not known. Did you mean 'float32'?")


def test_the_loaded_model_is_ready_to_evaluate_and_to_train(tmp_path):
    encoder = load_encoder(bert_folder(tmp_path)).encoder
    assert not encoder.training
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in encoder.parameters())


def test_old_names_and_a_prefix_are_read(tmp_path):
    tensors = tensors_of(CONFIG)
    spelled = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

    def old(name: str) -> str:
        for new, before in spelled.items():
            name = name.replace(new, before)
        return f"bert.{name}"

    ours = load_encoder(bert_folder(tmp_path / "new")).encoder
    theirs = load_encoder(bert_folder(tmp_path / "old", tensors={old(name): value for name, value in tensors.items()})).encoder
    assert all(torch.equal(a, b) for (_, a), (_, b) in zip(ours.ledger(), theirs.ledger(), strict=True))


def test_a_tied_matrix_is_one_tensor_and_its_copy_in_the_file_must_be_equal(tmp_path):
    tensors = tensors_of(MASKED)
    folder = bert_folder(tmp_path, tensors=tensors, architectures=["BertForMaskedLM"])
    assert load_encoder(folder).folder.match.copies == {}
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"].astype(np.float64)
    bert_folder(tmp_path, tensors=tensors, architectures=["BertForMaskedLM"])
    assert list(load_encoder(folder).folder.match.copies) == ["embeddings.E_token"]
    tensors["cls.predictions.decoder.weight"][4, 4] += 1
    assert refusal(bert_folder(tmp_path, tensors=tensors, architectures=["BertForMaskedLM"])) == (
        "cls.predictions.decoder.weight and bert.embeddings.word_embeddings.weight have different values, but the model uses "
        "one tensor for both. If they were trained separately, set tie_word_embeddings to false in config.json."
    )


def test_a_sharded_checkpoint_is_the_same_model(tmp_path):
    one, two = load_encoder(bert_folder(tmp_path / "one")).encoder, load_encoder(sharded(tmp_path / "two")).encoder
    assert all(torch.equal(a, b) for (_, a), (_, b) in zip(one.ledger(), two.ledger(), strict=True))


def test_positions_that_a_file_leaves_out_are_computed(tmp_path):
    case = Case("marian", "MarianEncoder")
    original = model_of(case).to(torch.float32)
    with torch.no_grad():
        original.embed_positions.weight.copy_(original.embed_positions.create_weight())
    save(original, tmp_path)
    tensors = guest("safetensors.torch").load_file(tmp_path / "model.safetensors")
    del tensors["embed_positions.weight"]
    guest("safetensors.torch").save_file(tensors, tmp_path / "model.safetensors")
    loaded = load_encoder(tmp_path, as_class="MarianEncoder")
    assert loaded.folder.computed == ("embeddings.E_position",)
    assert torch.equal(dict(loaded.encoder.ledger())["embeddings.E_position"], original.embed_positions.weight)


def test_what_does_not_fit_is_refused_by_name(tmp_path):
    tensors = tensors_of(CONFIG)
    lost = tensors.pop("encoder.layer.1.output.dense.weight")
    assert refusal(bert_folder(tmp_path, tensors=tensors)) == (
        "model.safetensors does not fit config.json: of 39 tensors, 1 missing (encoder.layer.1.output.dense.weight)."
    )
    tensors |= {"encoder.layer.1.output.dense.weight": lost.T, "encoder.extra": np.zeros(3, dtype=np.float32)}
    assert refusal(bert_folder(tmp_path, tensors=tensors)) == (
        "model.safetensors does not fit config.json: of 39 tensors, 1 unexpected (encoder.extra); 1 of another size "
        "(encoder.layer.1.output.dense.weight is [12, 8], expected [8, 12])."
    )


def test_a_head_that_the_file_lacks_is_refused_unless_its_class_is_requested(tmp_path):
    folder = bert_folder(tmp_path, architectures=["BertForSequenceClassification"])
    assert refusal(folder) == (
        "model.safetensors does not fit config.json: of 41 tensors, 2 missing (classifier.weight, classifier.bias)."
    )
    loaded = load_encoder(folder, as_class="BertForSequenceClassification")
    assert loaded.verdict == "head differs"
    assert loaded.folder.fresh == ("head.W_C", "head.b_C")
    fresh = dict(loaded.encoder.ledger())
    assert fresh["head.W_C"].abs().max() > 0
    assert fresh["head.b_C"].abs().max() == 0
    with pytest.raises(MismatchError):  # a body is never made up
        load_encoder(bert_folder(tmp_path / "b", num_hidden_layers=3), as_class="BertForSequenceClassification")


def test_the_body_of_a_model_with_a_head_loads_by_itself_and_says_so(tmp_path):
    folder = bert_folder(tmp_path, tensors=tensors_of(MASKED), architectures=["BertForMaskedLM"])
    assert load_encoder(folder).verdict == "exact"
    body = load_encoder(folder, as_class="BertModel")
    assert (body.verdict, body.folder.spec.pooler) == ("head differs", "none")
    assert "cls.predictions.bias" in body.folder.match.unused


def test_a_pickle_is_refused_with_the_way_out(tmp_path):
    (bert_folder(tmp_path) / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    assert refusal(tmp_path) == (
        "pytorch_model.bin is a pickle file: it can run code, so it is never opened. "
        "Use model.safetensors from the same repository."
    )


@pytest.mark.parametrize(("number", "word"), [(np.nan, "NaN"), (np.inf, "∞"), (-np.inf, "−∞")])
def test_a_non_finite_weight_is_named_with_tensor_index_and_count(tmp_path, number, word):
    tensors = tensors_of(CONFIG)
    tensors["encoder.layer.1.output.dense.weight"][2, 5] = number
    tensors["encoder.layer.1.output.dense.weight"][3, 5] = number
    folder = bert_folder(tmp_path, tensors=tensors)
    assert refusal(folder) == (
        f"encoder.layer.1.output.dense.weight[2, 5] is {word} (2 of 96 values are not finite). "
        "allow_nonfinite=True reads them anyway."
    )
    assert not load_encoder(folder, allow_nonfinite=True).encoder.layers["1"].ffn.narrow.weight.isfinite().all()


def test_weights_so_large_that_their_sum_overflows_are_still_numbers(tmp_path):
    tensors = tensors_of(CONFIG, dtype="float64")
    tensors["pooler.dense.bias"][:] = 1e308
    assert load_encoder(bert_folder(tmp_path, tensors=tensors), dtype="float64").verdict == "exact"


def test_an_invalid_type_of_weights_is_named(tmp_path):
    tensors = tensors_of(CONFIG) | {"pooler.dense.bias": np.zeros(8, dtype=np.int64)}
    assert refusal(bert_folder(tmp_path, tensors=tensors)) == (
        "pooler.dense.bias is stored as I64, which is not supported: F64, F32, F16, BF16 are."
    )


# Memory ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_hidden_layers": 1000}, "config.json has 1,000 layers, but model.safetensors has 2 (0 to 1)."),
        ({"vocab_size": 500}, "model.safetensors does not fit config.json: of 39 tensors, 1 of another size"),
        ({"vocab_size": 10**8}, "config.json has vocab=100,000,000, but model.safetensors has only 1,544 values in total."),
        ({"hidden_size": 10**9, "intermediate_size": 10**9}, "config.json has d_model=1,000,000,000, but model.safetensors"),
    ],
)
def test_a_config_of_a_larger_model_allocates_nothing(tmp_path, monkeypatch, changes, said):
    def allocate(encoder: Any, device: Any, dtype: Any) -> None:
        assert torch.device(device).type == "meta"

    monkeypatch.setattr(start, "allocate", allocate)
    began = time.process_time()
    assert refusal(bert_folder(tmp_path, **changes)).startswith(said)
    assert time.process_time() - began < 5


PEAK = """
    import resource, sys
    from glassformer.model.checkpoints.loading import load_encoder
    load_encoder(sys.argv[1])  # a small one: what torch needs for itself
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = load_encoder(sys.argv[2]).folder
    taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(taken / (4 * found.parameters))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts in kB on Linux")
def test_a_load_takes_little_more_memory_than_the_model(tmp_path):
    small, large = (EncoderSpec(vocab=rows, d_model=64, heads=2, layers=2, d_ff=128) for rows in (100, 400_000))
    for name, spec in (("small", small), ("large", large)):  # one table is nearly all of it, and 102 MB
        encoder = Encoder(spec, fresh=False)
        for parameter in encoder.parameters():
            torch.nn.init.zeros_(parameter)
        room.save(encoder, tmp_path / name)
    words = [sys.executable, "-c", textwrap.dedent(PEAK), tmp_path / "small", tmp_path / "large"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) < 1.2


# Hostile files -----------------------------------------------------------------------------------------------------------


def test_a_header_bomb_is_refused_at_once(tmp_path):
    folder = bert_folder(tmp_path)
    bombs = [
        file_bytes({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(120_000)}),
        (10**15).to_bytes(8, "little") + b"{" + b" " * 100,
        file_bytes('{"a":' * 5000 + "1" + "}" * 5000),
        file_bytes({"t": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 4]}}, b"1234"),
        file_bytes({"t": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4 * 10**12]}}),
    ]
    for bomb in bombs:
        (folder / "model.safetensors").write_bytes(bomb)
        began = time.process_time()
        assert refusal(folder).startswith(("model.safetensors", "the header of model.safetensors"))
        assert time.process_time() - began < 4


def test_mutated_files_load_or_are_refused_in_one_line(tmp_path):
    folder = bert_folder(tmp_path)
    header, data = header_and_data(tensors_of(CONFIG))
    good = file_bytes(header, data)
    rng = np.random.default_rng(11)
    refused = 0
    for _ in range(60):
        changed = bytearray(good)
        for place in rng.integers(0, len(file_bytes(header)), rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        (folder / "model.safetensors").write_bytes(bytes(changed))
        try:
            load_encoder(folder)
        except GlassformerError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 40


# A real checkpoint -----------------------------------------------------------------------------------------------------


def test_minilm_in_float32_is_within_1e_5_of_the_float64_run(minilm):
    loaded = load_encoder(minilm)
    assert (loaded.verdict, loaded.folder.parameters) == ("exact", 22_713_216)
    run = open_checkpoint(minilm).run("Time flies like an arrow; fruit flies like a banana.")
    ours = our_answer(loaded.encoder, {"tokens": run["tokens"]})
    assert max(np.abs(a - b).max() for a, b in zip(ours.hidden, run.hidden, strict=True)) < 1e-5
    assert np.abs(ours.outputs["pooled"] - run.output).max() < 1e-5
