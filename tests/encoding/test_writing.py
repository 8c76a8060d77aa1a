"""`evaluate` on models that write: the loss by hand, sacrebleu's own scores, intervals, the worst rows, one-line mistakes."""

import json
import math

import numpy as np
import pytest
from command_line import glassformer as command
from tiny_writing import PAIRS, continuing, table, texts, translating

import glassformer as gf
from glassformer import GlassformerError
from glassformer.model.generation.texts import TextGenerator
from glassformer.model.generation.translations import Translator
from glassformer.training import scoring
from glassformer.training.data import load_data

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return translating(tmp_path_factory.mktemp("runs"), epochs=4).folder


@pytest.fixture(scope="module")
def continuer(tmp_path_factory):
    return continuing(tmp_path_factory.mktemp("runs")).folder


def ended(run):
    """What the end of a run measured of its test data."""
    return json.loads((run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])["test"]


def test_a_translation_run_is_evaluated_on_its_own_test_data(translator):
    pytest.importorskip("sacrebleu")
    found, told = gf.evaluate(translator), ended(translator)
    assert list(found.figures) == ["BLEU", "chrF", "loss", "perplexity", "tokens predicted"]
    assert found.figures["loss"].value == pytest.approx(told["loss"], rel=1e-5)
    assert found.figures["perplexity"].value == pytest.approx(told["perplexity"], rel=1e-5)
    assert found.figures["BLEU"].value == pytest.approx(told["bleu"])
    assert found.figures["chrF"].value == pytest.approx(told["chrf"])
    for one in found.figures.values():
        assert one.low <= one.value + 1e-9 and one.value - 1e-9 <= one.high
    assert sum("bs:1000|seed:12345" in note for note in found.notes) == 2


def test_the_worst_translations_are_those_of_the_lowest_chrf(translator):
    pytest.importorskip("sacrebleu")
    found, rows = gf.evaluate(translator, worst=3), load_data(translator.parent / "pairs.tsv", rows_for="seq2seq").test
    written = gf.translate(translator, list(rows.inputs), beams=4).texts
    each = scoring.row_scores(written, rows.targets)
    assert [one.off for one in found.worst] == sorted(each)[:3]
    for one in found.worst:
        assert (one.text, one.true, one.predicted) == tuple(part[one.row - 1] for part in (rows.inputs, rows.targets, written))
        assert one.text in str(found)
        assert one.true in found.to_html()


def test_the_loss_of_a_translation_is_that_of_its_tokens_one_after_another(translator):
    model, loss, count = Translator(translator / "best", dtype="float64"), 0.0, 0
    for text, translation in PAIRS[:20]:
        labels = [*model.tokenizer.encode(translation, add_special_tokens=False).ids, model.tokens.ends[0]]
        source, count = torch.tensor([model.tokenizer.encode(text).ids]), count + len(labels)
        for place, label in enumerate(labels):
            read = torch.tensor([[model.tokens.start[0], *labels[:place]]])
            loss -= float(model.model(source, read).logits[0, -1].log_softmax(-1)[label].detach())
    data = table(translator.parent / "some.tsv", PAIRS[:20])
    found = gf.evaluate(translator, data, part="all", dtype="float64", beams=1)
    assert found.figures["loss"].value == pytest.approx(loss / count, rel=1e-9)


def test_a_decoder_has_the_perplexity_of_the_end_of_its_run(continuer):
    found, told = gf.evaluate(continuer), ended(continuer)
    assert list(found.figures) == ["loss", "perplexity", "tokens predicted"]
    assert found.figures["loss"].value == pytest.approx(told["loss"], rel=1e-5)
    assert found.figures["perplexity"].value == pytest.approx(math.exp(told["loss"]), rel=1e-5)
    assert [one.off for one in found.worst] == sorted((one.off for one in found.worst), reverse=True)
    assert str(found) == command("evaluate", continuer).stdout.rstrip("\n")


def test_a_long_text_is_read_in_pieces_whose_tokens_are_predicted_once(continuer, tmp_path):
    rows, model = ["red is cat " * (count + 1) for count in range(20)], TextGenerator(continuer / "best")
    (tmp_path / "long.txt").write_text("\n".join(rows) + "\n")
    whole = gf.evaluate(continuer, tmp_path / "long.txt", part="all", max_length=7, worst=1)
    counts = [len(model.ids(row.strip(), "it")) for row in rows]
    assert f"{sum(counts):,} tokens are predicted" in whole.notes[0]  # all but the first of each text, and each text's end
    assert f"{sum(-(-count // 7) - 1 for count in counts):,} further pieces" in whole.notes[1]


def test_each_batch_gives_every_row_the_loss_that_it_has_alone(translator, continuer):
    for run, options in ((translator, {"beams": 1}), (continuer, {})):
        one, many = (gf.evaluate(run, batch_tokens=size, dtype="float64", **options) for size in (1, 4000))
        assert one.figures["loss"].value == pytest.approx(many.figures["loss"].value, rel=1e-12)
        assert np.allclose([row.off for row in one.worst], [row.off for row in many.worst])


def test_the_command_prints_the_document_of_the_function(translator):
    told = command("evaluate", translator, "--json", "--worst", 2, "--beams", 1)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == json.loads(json.dumps(gf.evaluate(translator, worst=2, beams=1).to_dict()))


def test_a_mismatch_is_a_one_line_error(translator, continuer, tmp_path):
    words = texts(tmp_path / "plain.txt")
    for model, given, options, words_of in (
        (translator / "best", None, {}, "no data is given"),
        (translator, translator.parent / "pairs.tsv", {"part": "nowhere"}, "has no part 'nowhere'"),
        (continuer, words, {"beams": 3}, "beams (--beams) is for an encoder-decoder, but the model is a decoder: leave it out."),
        (translator, None, {"max_length": 3}, "max_length (--max-length) is for a decoder, but the model is an encoder-decoder"),
        (translator, words, {}, "its translations are in a second file"),
        (translator, "topic", {}, "the model is an encoder-decoder"),
    ):
        with pytest.raises(GlassformerError) as error:
            gf.evaluate(model, given, **options)
        assert words_of in str(error.value) and "\n" not in str(error.value)
