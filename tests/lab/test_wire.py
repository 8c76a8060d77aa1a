"""What travels: JSON that browsers read, arrays that come back as they went."""

import json
import math
import struct

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.lab.wire import pack, text_in, to_json, whole_in


def unpacked(message: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """As the format is described, independent of the code that writes it."""
    assert message[:4] == b"GLF1"
    (length,) = struct.unpack("<I", message[4:8])
    header, body = json.loads(message[8 : 8 + length]), message[8 + length :]
    kinds = {"float32": "<f4", "float16": "<f2"}
    return header, {
        item["name"]: np.frombuffer(body, kinds[item["dtype"]], math.prod(item["shape"]), item["offset"]).reshape(item["shape"])
        for item in header["arrays"]
    }


def test_numbers_that_json_lacks_are_sent_as_strings():
    assert to_json([math.nan, math.inf, -math.inf, np.float64("nan"), 1.5]) == '["NaN","Infinity","-Infinity","NaN",1.5]'


def test_whole_numbers_beyond_double_precision_are_sent_as_strings():
    assert to_json([2**53, 2**53 + 1, -(10**30)]) == f'[{2**53},"{2**53 + 1}","-{10**30}"]'
    assert to_json(True) == "true"


def test_arrays_come_back_as_they_went():
    scores = np.arange(6).reshape(2, 3) / 7
    header, arrays = unpacked(pack({"layer": 3, "words": ["été"]}, {"scores": scores, "odd": np.ones(3), "last": np.eye(2)}))
    assert (header["layer"], header["words"]) == (3, ["été"])
    assert np.array_equal(arrays["scores"], scores.astype("f4"))
    assert np.array_equal(arrays["odd"], np.ones(3)) and np.array_equal(arrays["last"], np.eye(2))


def test_every_array_starts_where_a_typed_array_can():
    message = pack({"a": "x"}, {"odd": np.ones(3), "next": np.ones(5)}, "float16")
    (length,) = struct.unpack("<I", message[4:8])
    header, arrays = unpacked(message)
    assert [(8 + length + item["offset"]) % 8 for item in header["arrays"]] == [0, 0]
    assert np.array_equal(arrays["next"], np.ones(5))


def test_masks_keep_their_minus_infinity():
    _, arrays = unpacked(pack({}, {"masked": [[0.0, -math.inf]], "nan": [math.nan]}, "float16"))
    assert arrays["masked"].tolist() == [[0.0, -math.inf]]
    assert np.isnan(arrays["nan"][0])


def test_the_fields_of_a_request_are_checked_by_name():
    document = {"text": "ab", "number": 3, "odd": True}
    assert (text_in(document, "text"), text_in(document, "none", "x")) == ("ab", "x")
    assert (whole_in(document, "number"), whole_in(document, "none", 2)) == (3, 2)
    for read, line in (
        (lambda: text_in(document, "none"), "the request must have none as a string, found None."),
        (lambda: text_in(document, "number"), "the request must have number as a string, found 3."),
        (lambda: text_in(document, "text", most=1), "text has 2 characters: at most 1 are allowed."),
        (lambda: whole_in(document, "odd"), "odd=True is not allowed: give a whole number from 0."),
        (lambda: whole_in({"n": 10**13}, "n"), "n=10000000000000 is not allowed"),
    ):
        with pytest.raises(GlassformerError) as refusal:
            read()
        assert line in str(refusal.value)
