"""translate, as a person uses it: texts, alignments, and one line for what cannot be translated."""

import json

import pytest
from checkpoint_files import bert_folder
from command_line import glassformer
from tiny_seq2seq import OF_WORDS, WORDS, saved_translator

import glassformer as gf
from glassformer.errors import GlassformerError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved_translator(tmp_path_factory.mktemp("models") / "tiny")


def test_texts_and_files_are_translated(folder, tmp_path):
    (tmp_path / "sources.txt").write_text("a small house\nsmall\n")
    done = glassformer("translate", folder, "--file", tmp_path / "sources.txt", "--beams", 3, "--max-new-tokens", 5)
    assert done.returncode == 0, done.stderr
    found = gf.translate(folder, ["a small house", "small"], beams=3, max_new_tokens=5)
    assert done.stdout.splitlines() == found.texts
    assert [one.source for one in found] == ["a small house", "small"]
    alone = gf.translate(folder, [[3, 4, 5, 2]], beams=3, max_new_tokens=5)[0]
    assert (alone.tokens, alone.text) == (found[0].tokens, None)


def test_one_beam_is_greedy_and_a_seed_samples_the_same(folder):
    greedy = gf.translate(folder, "a small house", max_new_tokens=6)
    assert gf.translate(folder, "a small house", max_new_tokens=6, beams=1).texts == greedy.texts
    drawn = [gf.translate(folder, "a small house", max_new_tokens=9, temperature=3.0, seed=seed).texts for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_an_alignment_names_a_source_token_for_each_written_one(folder):
    done = glassformer("translate", folder, "--text", "a small house", "--alignment", "--max-new-tokens", 3, "--json")
    (one,) = json.loads(done.stdout)["translations"]
    assert one["alignment"]["source"] == ["a", "small", "house", "</s>"]
    assert one["alignment"]["target"] == [WORDS[token] for token in one["tokens"]]
    assert all(sum(row) == pytest.approx(1) for row in one["alignment"]["weights"])
    assert {look["source"] for look in one["alignment"]["looks"]} <= {"a", "small", "house"}
    shown = glassformer("translate", folder, "--text", "a small house", "--alignment", "--max-new-tokens", 3).stdout.splitlines()
    assert shown[1].split() == ["token", "looked", "at", "weight"]
    assert len(shown) == 3 + len(one["tokens"])


def test_translations_that_are_cut_off_are_counted(folder):
    found = gf.translate(folder, ["a", "house"], max_new_tokens=1)
    cut = sum(not one.ended for one in found)
    assert cut and f"{cut} translation" in found.notes[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--text", ""), "--text has no tokens: there is nothing to translate."),
        (("--text", "a", "--beams", "10"), "beams=10 is wider than the vocabulary: it has 9 tokens."),
        (("--text", "a", "--beams", "2", "--top-k", "3"), "beams=2 and sampling exclude each other"),
        ((), "no input texts: give either --text"),
    ],
)
def test_bad_input_is_one_line(folder, options, said):
    done = glassformer("translate", folder, *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_another_kind_of_model_names_the_command_for_it(folder, tmp_path):
    bert = bert_folder(tmp_path / "bert")
    decoder = gf.save(gf.Decoder(gf.spec("gpt2 layers=1 d_model=8 heads=2 vocab=9")), tmp_path / "gpt2")
    for other, command, way in (
        (bert, "translate", "is an encoder: it does not generate text. For vectors: glassformer encode"),
        (decoder, "translate", "is a decoder: it reads no source. Continue texts with it: glassformer generate"),
        (
            folder,
            "generate",
            "is an encoder-decoder: it generates a target for a source. Translate with it: glassformer translate",
        ),
        (folder, "encode", "Translate with it: glassformer translate"),
    ):
        done = glassformer(command, other, "--text", "a", *(("--out", tmp_path / "x.npy") if command == "encode" else ()))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert way in done.stderr


def test_an_empty_text_is_one_line_where_the_tokenizer_adds_no_tokens(folder, tmp_path):
    decoder = gf.save(gf.Decoder(gf.spec("gpt2 layers=1 d_model=8 heads=2 vocab=9")), tmp_path / "gpt2")
    plain = json.loads((folder / "tokenizer.json").read_text()) | {"post_processor": None}
    (decoder / "tokenizer.json").write_text(json.dumps(plain))
    assert glassformer("generate", decoder, "--text", "a", "--max-new-tokens", 2).returncode == 0
    done = glassformer("generate", decoder, "--text", "")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--text has no tokens: there is nothing to continue" in done.stderr


def test_a_model_that_names_no_end_or_no_beginning_is_refused(tmp_path):
    saved = gf.save(gf.Seq2Seq(gf.spec(OF_WORDS)), tmp_path / "tiny")
    with pytest.raises(GlassformerError, match="names no eos_token_id: no token ends a translation"):
        gf.translate(saved, [[3]])
    (saved / "generation_config.json").write_text('{"eos_token_id": 2}')
    with pytest.raises(GlassformerError, match="names no decoder_start_token_id"):
        gf.translate(saved, [[3]])
