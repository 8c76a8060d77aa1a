"""Tables as pairs of texts, numbers, several classes and groups of texts; mistakes are one line."""

import json

import numpy as np
import pytest
from tiny_training import OPINIONS, opinions

from glassformer.errors import GlassformerError
from glassformer.training.data import load_data
from glassformer.training.data.prepare import prepare
from glassformer.training.tokenizers import Tokenizer


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    opinions(folder)
    return folder


def loaded(tables, task):
    name, reading = OPINIONS[task]
    return load_data(tables / name, **reading)


@pytest.mark.parametrize("task", OPINIONS)
def test_a_table_becomes_the_task_that_is_requested(tables, task):
    data = loaded(tables, task)
    assert data.task == task and sum(len(data.part(part)) for part in data.parts) == 200
    row = data.train.inputs[0]
    assert (isinstance(row, tuple) and len(row) == 2) == (data.form.inputs == "texts")


def test_targets_are_numbers_and_tuples_of_classes(tables):
    numbers, several = loaded(tables, "regress").train.targets, loaded(tables, "multilabel").train.targets
    assert numbers.dtype == np.float64 and set(numbers) == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert max(map(len, several)) > 1 and () in several and {place for row in several for place in row} == {0, 1, 2}


def test_jsonl_and_parquet_are_read_as_the_csv_is(tables, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    name, reading = OPINIONS["similarity"]
    head, *lines = (tables / name).read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row | {"score": float(row["score"])}) + "\n" for row in rows))
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    wanted = load_data(tables / name, **reading).fingerprint
    assert {load_data(tmp_path / file, **reading).fingerprint for file in ("a.jsonl", "a.parquet")} == {wanted}


def test_without_names_the_first_two_columns_are_the_pairs_of_an_embedding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question;answer\n" + "".join(f"q {n};a {n}\n" for n in range(20)))
    assert set(load_data(path, task="embed").train.inputs) < {(f"q {n}", f"a {n}") for n in range(20)}


def test_equal_pairs_stay_in_one_part_and_the_same_first_text_alone_does_not_bind(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,label\n" + "".join(f"same,other {n // 2},{'xy'[n // 2 % 2]}\n" for n in range(80)))
    data = load_data(path, text="a,b")
    parts = [{row[1] for row in data.part(part).inputs} for part in ("train", "validation", "test")]
    assert all(parts) and not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])


def test_a_pair_is_one_row_with_segments_and_its_longer_text_is_cut(tables):
    data = loaded(tables, "pair")
    tokenizer = Tokenizer.train(data.train.texts(), vocab=300)
    rows = prepare(data.train, tokenizer, max_length=8)
    batch = rows.batch(np.arange(4), seed=0, epoch=0)
    assert rows.cut and batch.inputs.shape == (4, 8)
    tokens, segments = tokenizer.tokens(batch.inputs[0].tolist()), batch.segments[0].tolist()
    assert tokens.count("[SEP]") == 2 and segments == sorted(segments) and sum(segments) >= 2
    assert segments.index(1) == tokens.index("[SEP]") + 1


TABLE = "a,b,c,score,many\n" + "one,two,three,0.5,x|y\ntwo,three,four,1.5,y\n" * 10
BAD = [
    ({"text": "a,d", "label": "score"}, "has no column 'd'. Its columns: a, b, c, score, many. Choose one with text=… (--text)"),
    ({"text": "a", "label": "b", "task": "regress"}, "line 2 has the label two, which is not a number."),
    ({"text": "a,b,c", "label": "score", "task": "regress"}, "task=regress reads one text or two in a row, but 3 columns"),
    ({"text": "a,b", "label": "many", "task": "multilabel"}, "task=multilabel reads one text in a row, but 2 columns"),
    ({"text": "a", "task": "embed"}, "task=embed needs two or three texts in a row of "),
    ({"text": "a", "label": None, "task": "regress"}, "task=regress needs labels, but "),
]


@pytest.mark.parametrize(("reading", "message"), BAD, ids=[message for _, message in BAD])
def test_a_mistake_is_one_line(tmp_path, reading, message):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    with pytest.raises(GlassformerError) as error:
        load_data(path, **reading)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("one,1\n", "1 row is too few"),
        ("one,1\ntwo,1\nthree,1\n", "every row has the number 1.0: there is nothing to predict."),
        ("one,1\n" * 5 + "two,\n", "line 7 has no label (empty or NaN)."),
    ],
)
def test_numbers_that_cannot_be_learned_are_one_line(tmp_path, rows, message):
    path = tmp_path / "numbers.csv"
    path.write_text("text,label\n" + rows)
    with pytest.raises(GlassformerError) as error:
        load_data(path, task="regress")
    assert message in str(error.value)


def test_an_empty_text_of_a_pair_is_skipped_and_counted(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b\n" + "".join(f"x {n},y {n}\n" for n in range(20)) + "x,\n")
    data = load_data(path, task="embed")
    assert any(note.startswith("skipped: empty texts: 1 (first: ") and "line 22" in note for note in data.notes)


def test_baselines_say_what_always_predicting_the_same_gives(tables):
    assert loaded(tables, "regress").provenance.baseline.startswith("always 0.5")
    assert "micro-F1" in loaded(tables, "multilabel").provenance.baseline


def test_large_numbers_are_noted(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("text,label\n" + "".join(f"house {n},{1000 * n}\n" for n in range(30)))
    assert any("labels are as large as 2.9e+04" in note for note in load_data(path, task="regress").notes)
