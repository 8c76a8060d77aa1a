"""Attention as a page: small, self-contained, and every token is text."""

import base64
import html
import json
import re
import subprocess
import zlib

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.seeded import seeded_run
from glassformer.show.attention_html import LEVELS, MOST_BYTES, attention_page, notebook_html, page, quantised
from glassformer.spec import EncoderSpec

SPEC = EncoderSpec(d_model=8, heads=2, layers=2)
HOSTILE = '</script><script>alert(1)</script> <img/src=x/onerror=alert(1)> "quoted" &amp; \u202eevil \ud800 $x_1$'


def attention(words=HOSTILE):
    return seeded_run(SPEC, words=words, seed=3).attention()


def data_of(text):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, flags=re.DOTALL)[1])


def restored(data, levels=LEVELS[0]):
    """The weights that the bytes stand for, as the page's script reads them."""
    return (data / levels) ** 2


def softmax_grids(layers, heads, tokens, spread):
    """Synthetic weights: the softmax of normal scores, from diffuse to sharp."""
    rng = np.random.default_rng(0)
    grids = []
    for _ in range(layers):
        powers = np.exp(spread * rng.normal(size=(heads, tokens, tokens)))
        grids.append(list(powers / powers.sum(axis=-1, keepdims=True)))
    return grids


def test_the_weights_in_the_page_are_the_runs_to_the_byte():
    found = attention("Tom a été entarté cet été")
    data = data_of(attention_page(found))
    assert data["levels"] == 255
    for row, layer in enumerate(found.layers):
        for column, head in enumerate(found.heads):
            packed = zlib.decompress(base64.b64decode(data["grids"][row][column]))
            weights = restored(np.frombuffer(packed, dtype=np.uint8)).reshape(6, 6)
            assert np.abs(weights - found.grid(layer, head)).max() < 1 / 255


def test_the_scale_of_the_page_ends_where_the_weights_of_all_heads_do():
    even, sharp = np.full((10, 10), 0.1), np.eye(10)
    for grids, top in (([[even, even]], 0.1), ([[even], [sharp]], 1.0)):
        data = data_of(page(grids, ["x"] * 10, tuple(range(len(grids))), tuple(range(len(grids[0])))))
        assert data["top"] == top


def test_rounding_is_less_than_a_level_of_the_square_root():
    weights = np.linspace(0, 1, 1001)
    for levels in LEVELS:
        assert np.all(np.abs(np.sqrt(restored(quantised(weights, levels), levels)) - np.sqrt(weights)) <= 0.5 / levels + 1e-12)


@pytest.mark.parametrize("spread", [0.5, 1.0, 4.0, 12.0])
def test_512_tokens_12_layers_12_heads_take_at_most_20_mb(spread):
    row = softmax_grids(1, 12, 512, spread)
    text = page(row * 12, [f"token{i}" for i in range(512)], tuple(range(12)), tuple(range(12)))
    assert len(text.encode()) <= MOST_BYTES == 20_000_000
    assert data_of(text)["levels"] >= 31


def test_what_cannot_fit_is_refused_with_the_way_out():
    with pytest.raises(
        GlassformerError, match=r"4 heads of 64 tokens do not fit into a page of 0 MB. Choose a layer, or a head."
    ):
        page(softmax_grids(2, 2, 64, 1.0), ["x"] * 64, (0, 1), (0, 1), most_bytes=12_000)


def test_no_token_becomes_markup():
    text = attention_page(attention())
    assert "<img" not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert html.escape("</script><script>alert(1)</script>") in text
    assert data_of(text)["words"][0] == "</script><script>alert(1)</script>"
    assert "\u202e" not in text


def test_the_page_makes_no_requests():
    text = attention_page(attention())
    assert "default-src 'none'" in html.unescape(text)
    assert not re.search(r"https?:|//cdn|@import|url\(", text)
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>|<bdi>.*?</bdi>", "", text, flags=re.DOTALL))


def test_a_notebook_gets_the_page_in_a_frame_of_its_own():
    text = notebook_html(attention())
    assert text.startswith('<iframe sandbox="allow-scripts"')
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', text)[1]) == attention_page(attention())
    assert text in attention()._repr_html_()  # below the pictures


def test_ids_are_never_global():
    assert " id=" not in attention_page(attention())


def test_a_browser_draws_it(chromium, tmp_path):
    path = tmp_path / "a.html"
    keys = "for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) "
    keys += "c.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    press = f"<script>setTimeout(() => {{ const c = document.querySelector('.view canvas'); {keys} }}, 500)</script>"
    found = attention()
    path.write_text(attention_page(found).replace("</main>", press + "</main>"), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--virtual-time-budget=4000"]
    done = subprocess.run(
        [chromium, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    said = re.search(r"<output[^>]*>(.*?)</output>", done.stdout)[1]
    weight = restored(quantised(found.grid(0, 0)[1, 1]))
    assert html.unescape(said) == f"<img/src=x/onerror=alert(1)> (1) → <img/src=x/onerror=alert(1)> (1): {weight:.4f}"
    assert "Rows are queries, columns are keys" in done.stdout
    assert "<img" not in done.stdout
