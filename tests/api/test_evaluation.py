"""`gf.evaluate` and `glassformer evaluate`: the figures are those of the predictions, and look the same everywhere."""

import json

import pytest
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, tensors_of
from command_line import glassformer as command
from tiny_training import Quiet, tiny_run

import glassformer as gf
from glassformer import GlassformerError
from glassformer.training import loop

CLASSES = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "glass", "1": "wall"}}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    home = tmp_path_factory.mktemp("models") / "classifier"
    return add_tokenizer(bert_folder(home, tensors=tensors_of(CONFIG | CLASSES), **CLASSES))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "walls.csv"
    words = [word for word in WORDS if word.isalpha()]
    rows = [f"{words[i % len(words)]} {words[(i // 2) % len(words)]},{('glass', 'wall')[i % 3 == 0]}" for i in range(60)]
    path.write_text("text,label\n" + "\n".join(dict.fromkeys(rows)) + "\n", encoding="utf-8")
    return path


def test_the_figures_are_those_of_the_predictions(classifier, table):
    found = gf.evaluate(classifier, table, part="all")
    rows = [line.rsplit(",", 1) for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    said = {text: one.label for (text, _), one in zip(rows, gf.load(classifier).predict([text for text, _ in rows]), strict=True)}
    right = sum(said[text] == label for text, label in rows)
    assert found.rows == len(rows)
    assert found.accuracy.value == pytest.approx(right / len(rows))
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    assert sum(map(sum, found.confusion)) == len(rows)
    assert len(found.mistakes) == min(10, len(rows) - right)
    for mistake in found.mistakes:
        assert said[mistake.text] == mistake.predicted != mistake.true
    assert found.mistakes[0].probability == max(one.probability for one in found.mistakes)


def test_the_command_prints_the_same_in_every_form(classifier, table):
    told = command("evaluate", str(classifier), str(table), "--part", "all", "--json")
    assert json.loads(told.stdout) == json.loads(json.dumps(gf.evaluate(classifier, table, part="all").to_dict()))
    found = gf.evaluate(classifier, table, part="all")
    assert command("evaluate", str(classifier), str(table), "--part", "all").stdout == str(found) + "\n"
    for part in ("accuracy", "macro-F1", "Confusion matrix", "Calibration", "Most confident mistakes"):
        assert part in str(found)
        assert part in found.to_html()
    assert "<table" in command("evaluate", str(classifier), str(table), "--html").stdout


def test_evaluating_a_run_on_images_gives_the_metrics_of_its_end(tmp_path):
    run, data = tiny_run(tmp_path / "run", epochs=1)
    figures = loop.train(run, data, Quiet())
    found = gf.evaluate(tmp_path / "run", "digits")
    assert found.accuracy.value == pytest.approx(figures["test"]["accuracy"], abs=1e-9)
    assert found.confusion == figures["test"]["confusion"]
    assert found.calibration.log_loss == pytest.approx(figures["test"]["loss"], rel=1e-4)
    assert found.mistakes[0].text is None


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        ("digits", {}, "reads tokens, but digits has the task image"),
        ("topic", {}, "has labels that classifier lacks"),
        ("lid-words", {}, "evaluate needs one label per row"),
        ("topic", {"part": "tset"}, "has no part 'tset'. Did you mean 'test'"),
    ],
)
def test_incomparable_labels_are_refused_in_one_line(classifier, data, options, says):
    with pytest.raises(GlassformerError, match=says.replace(".", r"\.")) as refused:
        gf.evaluate(classifier, data, **options)
    assert "\n" not in str(refused.value)


def test_a_model_without_classes_is_refused(tmp_path, table):
    with pytest.raises(GlassformerError, match="is not a classifier with one label per input"):
        gf.evaluate(add_tokenizer(bert_folder(tmp_path / "m")), table)
