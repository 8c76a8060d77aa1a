"""Checksums in the metadata of a file: found, compared, and refused if invalid."""

import hashlib

import numpy as np
import pytest
from checkpoint_files import file_bytes, header_and_data

from glassformer.errors import GlassformerError
from glassformer.files.checksums import check_sums
from glassformer.files.safetensors_header import sums_in
from glassformer.files.weight_files import find_weights

TENSORS = {"a": np.arange(3, dtype=np.float32), "b": np.ones((2, 2), dtype=np.float64)}


def written(folder, **notes):
    header, data = header_and_data(TENSORS)
    (folder / "model.safetensors").write_bytes(file_bytes({"__metadata__": notes, **header}, data))
    return find_weights(folder)


def test_a_file_without_checksums_has_none_and_is_not_compared(tmp_path):
    files = written(tmp_path, format="pt")
    assert files.sums == {}
    check_sums(files)


def test_right_checksums_pass_and_a_wrong_one_is_named_by_its_tensor(tmp_path):
    right = {f"sha256:{name}": hashlib.sha256(value.tobytes()).hexdigest() for name, value in TENSORS.items()}
    check_sums(written(tmp_path, **right))
    files = written(tmp_path, **{**right, "sha256:b": "0" * 64})
    check_sums(files, ["a"])
    with pytest.raises(
        GlassformerError, match=r"^model\.safetensors: tensor b does not match its sha256: at least one bit has changed"
    ):
        check_sums(files)


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (
            {"sha256:c": "0" * 64},
            "model.safetensors: its metadata entry sha256:c names no tensor of the file. The file is damaged.",
        ),
        ({"sha256:a": "zero"}, "model.safetensors: its metadata entry sha256:a is not a checksum. The file is damaged."),
    ],
)
def test_an_invalid_checksum_entry_is_refused(notes, said):
    with pytest.raises(GlassformerError) as caught:
        sums_in(notes, TENSORS, "model.safetensors")
    assert str(caught.value) == said
