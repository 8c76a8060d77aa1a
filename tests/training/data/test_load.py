"""One way in: every form of data, from the path to labels, parts and fingerprint."""

import gzip
import json
import subprocess
import sys

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data import load_data

ROWS = [(f"good film number {i}" if i % 2 else f"bad film number {i}", "pos" if i % 2 else "neg") for i in range(40)]


def as_csv(rows=ROWS):
    return "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)


def as_jsonl(rows=ROWS):
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)


def membership(data):
    return {part: set(data.part(part).inputs) for part in data.parts}


def test_one_content_in_every_form_is_one_split(tmp_path):
    (tmp_path / "a.csv").write_text(as_csv(), encoding="utf-8")
    (tmp_path / "a.tsv").write_text(as_csv().replace(",", "\t"), encoding="utf-8")
    (tmp_path / "a.jsonl").write_text(as_jsonl(), encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(as_jsonl(ROWS[::-1]).encode()))
    for number, (text, label) in enumerate(ROWS):
        path = tmp_path / "folder" / label / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    sets = [load_data(tmp_path / name) for name in ("a.csv", "a.tsv", "a.jsonl", "b.jsonl.gz", "folder")]
    for data in sets:
        assert (data.task, data.labels, data.notes) == ("classify", ("neg", "pos"), ())
        assert {part: len(data.part(part)) for part in data.parts} == {"train": 32, "validation": 4, "test": 4}
        assert membership(data) == membership(sets[0])
        assert all(
            data.labels[number] == ("pos" if text.startswith("good") else "neg")
            for text, number in zip(data.test.inputs, data.test.targets, strict=True)
        )
    assert sets[0].fingerprint == sets[1].fingerprint == sets[2].fingerprint
    assert load_data(tmp_path / "a.csv", seed=1).fingerprint != sets[0].fingerprint


def test_files_of_a_part_are_one_part(tmp_path):
    (tmp_path / "train-00000-of-00002.csv").write_text(as_csv(ROWS[:15]), encoding="utf-8")
    (tmp_path / "train-00001-of-00002.csv").write_text(as_csv(ROWS[15:30]), encoding="utf-8")
    (tmp_path / "test-00000-of-00001.csv").write_text(as_csv(ROWS[30:]), encoding="utf-8")
    data = load_data(tmp_path)
    assert (len(data.train), len(data.validation), len(data.test)) == (27, 3, 10)


def test_data_of_ones_own_is_measured_against_always_saying_one_label(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        as_csv([(text, "rare" if number < 4 else "usual") for number, (text, _) in enumerate(ROWS)]), encoding="utf-8"
    )
    data = load_data(path)
    usual = sum(data.labels[number] == "usual" for number in data.test.targets) / len(data.test)
    assert data.provenance.baseline == f"always 'usual': {usual:.1%}"


def test_plain_text_is_for_masked_tokens(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(text for text, _ in ROWS), encoding="utf-8")
    data = load_data(path)
    assert (data.task, data.labels, len(data.train), data.train.targets) == ("mlm", (), 32, None)
    (tmp_path / "a.csv").write_text(as_csv(), encoding="utf-8")
    assert load_data(tmp_path / "a.csv", label=None).task == "mlm"


def test_tags_are_read_from_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"tokens": ["je", "suis", str(i)], "tags": ["fr", "fr", "other"]} for i in range(20)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    data = load_data(path)
    assert (data.task, data.labels, len(data.test)) == ("tag", ("fr", "other"), 2)
    assert data.train.targets[0] == (0, 0, 1)


def test_given_parts_are_kept_and_leaks_are_noted(tmp_path):
    (tmp_path / "train.csv").write_text(as_csv(ROWS[:30]), encoding="utf-8")
    (tmp_path / "test.jsonl").write_text(as_jsonl(ROWS[28:]), encoding="utf-8")
    data = load_data(tmp_path)
    assert (len(data.train), len(data.validation), len(data.test)) == (27, 3, 12)
    assert data.notes[0] == "drawn from the training rows because not given: validation"
    assert data.notes[1].startswith(("1 of the 12", "2 of the 12"))


def test_what_was_left_out_is_in_the_notes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(as_csv([*ROWS, ("", "pos"), ("x" * 200_000, "neg"), ("no label", "")]), encoding="utf-8")
    data = load_data(path, on_bad="skip")
    assert [note.split(": ")[:-1] for note in data.notes] == [
        ["skipped", "empty texts", "1 (first"],
        ["truncated to 100,000 characters", "1 (first"],
        ["skipped", "rows without a label", "1 (first"],
    ]


BAD = [
    ("@nothing.csv", {}, "no such file or folder: "),
    ("topics", {}, "no such built-in dataset, file or folder: topics. Did you mean 'topic'? 'glassformer data' lists"),
    ("x\0y", {}, "no such built-in dataset, file or folder: x?y."),
    ("topic", {"split": (0.5, 0.25, 0.25)}, "topic is a built-in dataset with fixed splits: leave split out."),
    ("topic", {"seed": -1}, "seed=-1 is not allowed: a whole number from 0."),
    ("topic", {"split": (1, 2)}, "split=(1, 2) is not allowed: give three positive shares"),
    ("topic", {"label": None}, "topic is a built-in dataset with fixed rows: leave label out."),
    ("digits", {"resize": 16}, "digits is a built-in dataset with fixed rows: leave resize out."),
    ("@one.csv", {"resize": 16}, "resize=16 is only for images, but "),
    ("", {}, "no such built-in dataset, file or folder: an empty name."),
    ("http://example.org/a.csv", {}, "Nothing is downloaded: save it first, and give the file."),
    ("@one.csv", {"text": "label", "label": "text"}, "has 40 different labels in 40 rows: this is not a label column."),
    ("@unlabelled", {}, "Or move test.csv elsewhere: test is then drawn from the training rows."),
    ("@one.csv", {}, "every training row has the label 'pos'. At least two classes are needed."),
    ("@empty.csv", {}, "empty.csv is empty: there is no data."),
    ("@head.csv", {}, "head.csv has no usable row."),
    ("@unseen", {}, "the label 'neutral' is in test but not in training. Check its spelling"),
    ("@mixed", {}, "train has the task classify, but validation has mlm."),
    ("@void", {}, "test.csv has no usable row."),
]


@pytest.mark.parametrize(("what", "options", "message"), BAD)
def test_bad_data_is_one_line(tmp_path, what, options, message):
    files = {
        "one.csv": as_csv([(text, "pos") for text, _ in ROWS]),
        "empty.csv": "",
        "head.csv": "text,label\n",
        "unseen/train.csv": as_csv(),
        "unseen/test.csv": as_csv([("fine", "neutral")]),
        "unlabelled/train.csv": as_csv(),
        "unlabelled/test.csv": "id,text\n1,fine\n",
        "mixed/train.csv": as_csv(),
        "mixed/validation.txt": "plain\n",
        "void/train.csv": as_csv(),
        "void/test.csv": "text,label\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(GlassformerError) as error:
        load_data(tmp_path / what[1:] if what.startswith("@") else what, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_data_is_read_where_torch_and_every_optional_package_cannot_be_imported():
    code = """
import sys
class Barred:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "tokenizers", "pyarrow", "datasets", "PIL", "matplotlib"):
            raise AssertionError(name)
sys.meta_path.insert(0, Barred())
from glassformer.training.data import load_data
for name in ("digits", "topic", "lid-words", "mlm"):
    load_data(name).fingerprint
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
