"""What generation_config.json says about the search is used, suggested in one line, or named as not implemented."""

import pytest

import glassformer as gf
from glassformer.checkpoints.search_settings import as_options, differing, not_implemented, suggested

GREEDY = {"beams": 1, "length_penalty": 1.0, "early_stop": False, "temperature": None, "top_k": None, "top_p": None}
BART = {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True, "no_repeat_ngram_size": 3, "min_length": 56}
MARIAN = {"num_beams": 6, "max_length": 512, "do_sample": False, "length_penalty": 1.0}
QWEN = {"do_sample": True, "temperature": 0.7, "top_k": 20, "top_p": 0.8, "repetition_penalty": 1.05}


@pytest.mark.parametrize(
    ("file", "options", "not_there"),
    [
        (BART, "--beams 4 --length-penalty 2 --early-stop", ("no_repeat_ngram_size", "min_length")),
        (MARIAN, "--beams 6", ()),
        (QWEN, "--temperature 0.7 --top-k 20 --top-p 0.8", ("repetition_penalty",)),
        ({"do_sample": True}, "--top-k 50", ()),
        ({"do_sample": True, "top_k": 0}, "--temperature 1", ()),
        ({"temperature": 0.5, "num_beams": 1, "repetition_penalty": 1}, "", ()),  # without do_sample, it says nothing
        ({"early_stopping": "never", "num_beams": True}, "", ('early_stopping="never"',)),
    ],
)
def test_a_greedy_search_is_told_what_the_file_suggests(file, options, not_there):
    assert as_options(differing(suggested(file), GREEDY)) == options
    assert not_implemented(file) == not_there


@pytest.mark.parametrize(
    ("file", "used", "options"),
    [
        (BART, {"beams": 5}, "--length-penalty 2 --early-stop"),
        (BART, {"beams": 4, "length_penalty": 2.0, "early_stop": True}, ""),
        (BART, {"temperature": 0.3}, ""),  # another kind of search, which was asked for
        (QWEN, {"temperature": 0.7, "top_p": 0.8}, "--top-k 20"),
        (QWEN, {"beams": 2}, ""),
    ],
)
def test_a_search_that_was_asked_for_is_told_what_else_the_file_has(file, used, options):
    assert as_options(differing(suggested(file), GREEDY | used)) == options


def test_the_suggestion_is_a_note(tmp_path):
    decoder = gf.Decoder(gf.spec("gpt2", layers=1, d_model=8, heads=2, vocab=20))
    folder = gf.save(decoder, tmp_path / "tiny")
    (folder / "generation_config.json").write_text('{"num_beams": 3, "eos_token_id": 1}')
    assert gf.generate(folder, [[3]], max_new_tokens=2).notes == ("generation_config.json suggests another search: --beams 3",)
    assert gf.generate(folder, [[3]], max_new_tokens=2, beams=3).notes == ()
