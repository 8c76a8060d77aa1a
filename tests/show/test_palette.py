"""The palette: every name has a part, and the colours of parts are distinguishable on both pages with any colour vision."""

import itertools

import numpy as np
import pytest

import glassformer as gf
from glassformer.show.palette import DARK, LIGHT, PARTS, css_variables, tensor_part

# Machado, Oliveira and Fernandes (2009), severity 1: what linear RGB becomes for protanopes, deuteranopes and tritanopes.
VISION = {
    "all": np.eye(3),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "no blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def lab(colour, vision):
    xyz = TO_XYZ @ np.clip(VISION[vision] @ linear(colour), 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_parts_and_words_stand_out_from_the_page(theme):
    assert min(contrast(colour, theme.page) for colour in theme.parts.values()) >= 3  # WCAG: graphical objects
    assert min(contrast(word, theme.page) for word in (theme.ink, theme.quiet, theme.act)) >= 4.5  # WCAG: text
    assert min(contrast(word, theme.raised) for word in (theme.ink, theme.quiet)) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("vision", VISION)
def test_any_two_parts_can_be_distinguished(theme, vision):
    for one, other in itertools.combinations(theme.parts.values(), 2):
        assert np.linalg.norm(lab(one, vision) - lab(other, vision)) > 9, (one, other)


def test_two_colours_that_look_alike_are_found():
    assert np.linalg.norm(lab("#c75000", "no green") - lab("#7a6f00", "no green")) < 12


@pytest.mark.parametrize(
    ("spec", "name", "part"),
    [
        ("bert-base", "tokens", "embedding"),
        ("bert-base", "embeddings.E_token", "embedding"),
        ("bert-base", "embeddings.norm.gamma", "norm"),
        ("bert-base", "x", "embedding"),
        ("bert-base", "layers.0.attention.W_Q", "attention"),
        ("bert-base", "layers.3.attention.out", "attention"),
        ("t5-small", "layers.E_relative", "attention"),
        ("bert-base", "layers.11.ffn.b_1", "feed-forward"),
        ("bert-base", "layers.0.sum_1", "norm"),
        ("bert-base", "layers.0.out", "norm"),
        ("vit-b16", "final_norm.gamma", "norm"),
        ("bert-base", "pooler.W_P", "head"),
        ("vit-b16 head=classify classes=5", "head.W_C", "head"),
        ("siglip-b16-vision", "pooler.attention.W_Q", "head"),
        ("siglip-b16-vision", "pooler.norm.gamma", "norm"),
    ],
)
def test_a_tensor_belongs_to_a_part(spec, name, part):
    words, *fields = spec.split()
    assert tensor_part(gf.build(words, **dict(field.split("=") for field in fields)).tensors[name]) == part


def test_every_tensor_of_every_preset_has_a_part():
    for name in gf.presets():
        assert {tensor_part(tensor) for tensor in gf.build(name).tensors.values()} <= set(PARTS)


def test_a_style_sheet_has_a_variable_for_each():
    sheet = css_variables(DARK)
    assert all(f"--gf-{part}:#" in sheet for part in (*PARTS, "page", "ink"))
