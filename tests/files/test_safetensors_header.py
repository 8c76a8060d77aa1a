"""The header reader: what it accepts, its error messages, and that it raises nothing else."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import time
import zipfile
from typing import Any

import numpy as np
import pytest
from checkpoint_files import file_bytes, header_and_data

from glassformer.errors import GlassformerError
from glassformer.files.safetensors_header import Entry, parse_header, read_header

NAME = "model.safetensors"
GOOD = {
    "embeddings.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bias": np.zeros(4, dtype=np.float16),
    "empty": np.zeros((0, 3)),
}
USE_SAFETENSORS = "Use model.safetensors from the same repository."
NEVER = f"it can run code, so it is never opened. {USE_SAFETENSORS}"
NOT_THE_PAGE = "the download failed. Download the file itself, not its page."
F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def refusal(data: bytes) -> str:
    with pytest.raises(GlassformerError) as caught:
        parse_header(data, name=NAME)
    return str(caught.value)


def in_words(value: Any) -> str:
    """Name a test by its message, not by its bytes, some of which contain the time."""
    return value if isinstance(value, str) else "file"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}q\x00.")
    return file.getvalue()


def test_a_valid_file_gives_types_shapes_and_offsets():
    header, data = header_and_data(GOOD)
    found = parse_header(file_bytes({"__metadata__": {"format": "np"}, **header}, data))
    start = len(file_bytes({"__metadata__": {"format": "np"}, **header}))
    assert found.tensors["embeddings.weight"] == Entry("F32", (2, 3), start, start + 24)
    assert found.tensors["bias"] == Entry("F16", (4,), start + 24, start + 32)
    assert found.tensors["empty"].shape == (0, 3)
    assert found.metadata == {"format": "np"}


def test_a_file_of_the_safetensors_package_is_read(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    safetensors.save_file(GOOD, tmp_path / NAME)
    assert {name: entry.shape for name, entry in read_header(tmp_path / NAME).tensors.items()} == {
        name: value.shape for name, value in GOOD.items()
    }


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "model.safetensors is empty (0 bytes): the download failed. Download it again."),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 90868376\n",
            "model.safetensors is a Git LFS pointer (73 bytes), not weights. Run: git lfs pull",
        ),
        (
            b"<!DOCTYPE html>\n<html><head><title>404 Not\n Found</title></head></html>",
            f'model.safetensors is an HTML page ("404 Not? Found"): {NOT_THE_PAGE}',
        ),
        (
            b"\n <html><body>no",
            f"model.safetensors is an HTML page: {NOT_THE_PAGE}",
        ),
        (
            b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
            "model.safetensors is an XML document, probably an error from the server: the download failed. Download it again.",
        ),
        (
            zipped(),
            f"model.safetensors is a zip archive, as torch.save writes it, with a pickle inside: {NEVER}",
        ),
        *(
            (
                pickle.dumps({"weight": list(range(9))}, protocol=protocol),
                f"model.safetensors is a pickle: {NEVER}",
            )
            for protocol in (2, 4, 5)
        ),
        (gzip.compress(b"x" * 100, mtime=0), "model.safetensors is compressed with gzip, not weights. Unpack it first: gunzip"),
        (
            b'{"error": "Repository not found"}',
            "model.safetensors is a JSON document, not weights: an index, a config, or an error from the server. "
            "Download the weights themselves.",
        ),
        (
            b"GGUF\x03\x00\x00\x00" + b"\x00" * 20,
            f"model.safetensors is a GGUF file, whose weights are laid out for llama.cpp. {USE_SAFETENSORS}",
        ),
        (
            b"\x89HDF\r\n\x1a\n" + b"\x00" * 20,
            f"model.safetensors is an HDF5 file, as Keras writes it. {USE_SAFETENSORS}",
        ),
        (
            b"\x00" * 4096,
            "model.safetensors starts with zeros only: the download was interrupted. Download it again.",
        ),
        (b"\x05\x00", "model.safetensors has 2 bytes, too few for a safetensors file. Download it again."),
    ],
    ids=in_words,
)
def test_other_kinds_of_files_are_recognised(data, said):
    assert refusal(data) == said


def test_a_truncated_download_is_named():
    header, data = header_and_data({"weight": np.zeros((100, 100))})
    whole = file_bytes(header, data)
    assert refusal(whole[:60_000]) == (
        f"model.safetensors is incomplete: its header describes {len(whole):,} bytes, the file has 60,000 (74 %). "
        "Download it again."
    )
    assert refusal(whole[:40]) == (
        f"model.safetensors is incomplete: its header describes {len(file_bytes(header))} bytes, the file has 40 (47 %). "
        "Download it again."
    )


def test_bytes_after_the_last_tensor_are_refused():
    header, data = header_and_data(GOOD)
    assert refusal(file_bytes(header, data + b"!")).endswith("1 more than its header describes. The file is damaged.")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            (2).to_bytes(8, "little") + b"[]",
            'model.safetensors: the header is not valid (byte 8 is "[", must be "{"). '
            "The file is damaged, or not a safetensors file.",
        ),
        (
            (10**15).to_bytes(8, "little") + b"{}",
            "model.safetensors: its header claims to be 1,000,000,000,000,000 bytes long; at most 16,000,000 are allowed. "
            "The file is damaged or malicious.",
        ),
        (
            file_bytes('{"a": {"dtype": "F32"'),
            "the header of model.safetensors is not JSON: it ends at character 21 (Expecting ',' delimiter).",
        ),
        (file_bytes('{"a": 1, "a": 2}'), "the header of model.safetensors: the key 'a' occurs twice in one object."),
        (
            (4).to_bytes(8, "little") + b'{"\xff"',
            "model.safetensors: its header is not text: byte 10 is not UTF-8. The file is damaged.",
        ),
        (
            file_bytes({"__metadata__": {"n": 1}}),
            "model.safetensors: __metadata__ must map strings to strings. The file is damaged.",
        ),
        (file_bytes({"a": [1]}), "model.safetensors: tensor a must have dtype, shape and data_offsets, found list."),
        (
            file_bytes({"a": {"dtype": "F32", "shape": [1]}}),
            "model.safetensors: tensor a must have dtype, shape and data_offsets, found dtype, shape.",
        ),
        (
            file_bytes({"a": {**F32, "shape": [512, 384], "data_offsets": [0, 4]}}, bytes(4)),
            "model.safetensors: tensor a has 512 × 384 F32 = 786,432 bytes, but its data_offsets span 4.",
        ),
        (
            file_bytes({"a": {**F32, "shape": [2**62, 2**62, 2**62]}}, bytes(8)),
            "model.safetensors: tensor a has 4611686018427387904 × 4611686018427387904 × 4611686018427387… "
            "F32 = more bytes than any file can have, but its data_offsets span 8.",
        ),
        (
            file_bytes({"a": {**F32, "shape": [2**64 // 4 + 2]}}, bytes(8)),
            "model.safetensors: tensor a has 4611686018427387906 F32 = more bytes than any file can have, "
            "but its data_offsets span 8.",
        ),
        (
            file_bytes({"a": {**F32, "shape": [1] * 9}}, bytes(8)),
            "model.safetensors: tensor a has shape [1, 1, 1, 1, 1, 1, 1, 1, 1]: it must be at most 8 whole numbers, 0 or more.",
        ),
        (
            file_bytes({"a": {**F32, "shape": [-2]}}, bytes(8)),
            "model.safetensors: tensor a has shape [-2]: it must be at most 8 whole numbers, 0 or more.",
        ),
        (
            file_bytes({"a": {**F32, "shape": [True, 2]}}, bytes(8)),
            "model.safetensors: tensor a has shape [True, 2]: it must be at most 8 whole numbers, 0 or more.",
        ),
        (
            file_bytes({"a": {**F32, "data_offsets": [8, 0]}}, bytes(8)),
            "model.safetensors: tensor a has data_offsets [8, 0]: they must be a start and an end after it.",
        ),
        (
            file_bytes({"a": F32, "b": {**F32, "data_offsets": [4, 12]}}, bytes(12)),
            "model.safetensors: tensor b overlaps tensor a. The file is damaged or malicious.",
        ),
        (
            file_bytes({"a": F32, "b": {**F32, "data_offsets": [16, 24]}}, bytes(24)),
            "model.safetensors: tensor b leaves a gap of 8 bytes after tensor a. The file is damaged or malicious.",
        ),
        (
            file_bytes({"n" * 513: F32}, bytes(8)),
            f"model.safetensors: tensor {'n' * 60}… has a name of more than 512 bytes.",
        ),
        (
            file_bytes('{"a": {"dtype": "F32", "shape": [' + "9" * 5000 + '], "data_offsets": [0, 8]}}'),
            "the header of model.safetensors contains a number with thousands of digits, which is not allowed. Correct it.",
        ),
        (file_bytes('{"a":' + "[" * 60_000), "the header of model.safetensors is nested too deeply: at most 32 levels."),
    ],
    ids=in_words,
)
def test_an_invalid_header_is_refused_with_the_reason(data, said):
    assert refusal(data) == said


def test_an_unknown_type_is_named_with_the_known_ones():
    said = refusal(file_bytes({"a": {**F32, "dtype": "F31"}}, bytes(8)))
    assert said.startswith("model.safetensors: tensor a has dtype F31, which is unknown. Known: F4,")


def test_a_header_made_to_exhaust_memory_is_refused_at_once():
    empty = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    bloated = file_bytes({str(number): empty for number in range(120_000)})
    before = time.process_time()
    assert refusal(bloated) == "model.safetensors: its header describes more than 34,000 tensors, which is the limit."
    assert time.process_time() - before < 0.2


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(GlassformerError, match=r"^gone\.safetensors cannot be read: No such file or directory\.$"):
        read_header(tmp_path / "gone.safetensors")


# Fuzzing -------------------------------------------------------------------------------------------------------------

NUMBERS: list[Any] = [0, 1, -1, 2**31, 2**63, 2**64, 10**30, 1.5, 1e300, True, None, "1", [], {}]


def structured(rng: np.random.Generator) -> bytes:
    """A valid JSON header with wrong content: a value of one tensor is replaced."""
    header, data = header_and_data(GOOD)
    entry = header[str(rng.choice(list(header)))]
    key = str(rng.choice(list(entry)))
    odd = NUMBERS[rng.integers(len(NUMBERS))]
    if isinstance(entry[key], list) and entry[key] and rng.random() < 0.7:
        entry[key][rng.integers(len(entry[key]))] = odd
    else:
        entry[key] = odd
    if rng.random() < 0.2:
        header[str(rng.choice(["", "\ud800", "a\nb", "x" * 600, "__metadata__"]))] = odd
    return file_bytes(header, data)


def flipped(rng: np.random.Generator) -> bytes:
    """A good file with bytes changed, cut, or doubled."""
    header, data = header_and_data(GOOD)
    whole = bytearray(file_bytes(header, data))
    for _ in range(rng.integers(1, 6)):
        place = int(rng.integers(len(whole)))
        match rng.integers(4):
            case 0:
                whole[place] ^= 1 << int(rng.integers(8))
            case 1:
                whole[place] = int(rng.integers(256))
            case 2:
                del whole[place : place + int(rng.integers(1, 20))]
            case _:
                whole[place:place] = whole[place : place + int(rng.integers(1, 20))]
        if not whole:
            break
    return bytes(whole)


def test_two_thousand_mutants_give_a_header_or_one_short_line():
    rng = np.random.default_rng(20)
    refused = 0
    before = time.process_time()
    for number in range(2000):
        data = structured(rng) if number % 2 else flipped(rng)
        try:
            found = parse_header(data, name=NAME)
        except GlassformerError as error:
            refused += 1
            assert "\n" not in str(error)
            assert len(str(error)) <= 300
        else:
            spans = sorted((entry.start, entry.stop) for entry in found.tensors.values())
            assert sum(stop - start for start, stop in spans) <= len(data)
            assert not spans or spans[-1][1] == len(data)
    assert time.process_time() - before < 10
    assert refused > 1200


def test_the_reference_parser_reads_whatever_we_accept_and_reads_the_same():
    safetensors = pytest.importorskip("safetensors")
    rng = np.random.default_rng(21)
    header, rest = header_and_data(GOOD)
    accepted = 0
    for _ in range(600):
        changed = bytearray(file_bytes(header, rest))
        changed[rng.integers(8, len(changed))] ^= 1 << int(rng.integers(8))
        data = bytes(changed)
        try:
            ours = parse_header(data)
        except GlassformerError:
            continue
        accepted += 1
        theirs = dict(safetensors.deserialize(data))
        assert {name: tuple(value["shape"]) for name, value in theirs.items()} == {
            name: entry.shape for name, entry in ours.tensors.items()
        }
    assert accepted > 50


def test_a_header_is_the_same_from_a_file_and_from_bytes(tmp_path):
    header, data = header_and_data(GOOD)
    (tmp_path / NAME).write_bytes(file_bytes(json.dumps(header) + "   ", data))
    assert read_header(tmp_path / NAME) == parse_header(file_bytes(json.dumps(header) + "   ", data))
