"""CSV, TSV, JSON Lines, Parquet and plain text, and the one line for each way they can be wrong."""

import builtins
import csv
import json
import sys

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data.readers import read_table
from glassformer.training.data.row_options import RowOptions


def rows(path, **asked):
    return [(raw.text, raw.label) for raw in map(sound, read_table(path, RowOptions(**asked)))]


def sound(raw):
    """A row without a fault; a fault is what `gather` refuses or skips."""
    if raw.fault:
        raise GlassformerError(raw.fault)
    return raw


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


WANTED = [("good, really", "1"), ("two\nlines", "0")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'text,label\n"good, really",1\n"two\nlines",0\n'),
        ("a.csv", '\ufefftext,label\r\n"good, really",1\r\n\r\n"two\nlines",0\r\n'),
        ("a.csv", 'text;label\n"good, really";1\n"two\nlines";0\n'),
        ("a.csv", '\n id , label,text\n1,1,"good, really"\n2,0,"two\nlines"\n'),
        ("a.csv", 'text|label\n"good, really"|1\n"two\nlines"|0\n'),
        ("a.csv", 'sep=;\r\ntext;label\r\n"good, really";1\r\n"two\nlines";0\r\n'),
        ("a.csv", 'label;text;a, b\n1;"good, really";\n0;"two\nlines";\n'),
        ("a.csv", '"text","label",,\n"good, really",1,,\n"two\nlines",0,,\n'),
        ("a.csv", 'TEXT,Label\n"good, really",1\n"two\nlines",0\n'),
        ("a.CSV", 'other,other,text,label\n,,"good, really",1\n,,"two\nlines",0\n'),
        ("a.tsv", 'text\tlabel\ngood, really\t1\n"two\nlines"\t0\n'),
        ("a.jsonl", '{"text": "good, really", "label": "1"}\n\n{"label": "0", "text": "two\\nlines", "more": 3}\n'),
    ],
)
def test_a_table_is_read(tmp_path, name, text):
    assert rows(written(tmp_path, name, text)) == WANTED


def test_lines_may_end_with_a_carriage_return_alone(tmp_path):
    assert rows(written(tmp_path, "a.csv", "text,label\rgood,1\rbad,0\r")) == [("good", "1"), ("bad", "0")]
    assert rows(written(tmp_path, "a.txt", "eins\rzwei\rdrei")) == [("eins", None), ("zwei", None), ("drei", None)]


@pytest.mark.parametrize(
    "text",
    [
        '[{"text": "a", "label": 1}, {"text": "b", "label": 0}]',
        '\ufeff[\n {"text": "a", "label": 1},\n {"text": "b", "label": 0}\n]\n',
        '{"text": "a", "label": 1}\n{"text": "b", "label": 0}\n',
    ],
)
def test_a_json_file_is_a_list_of_objects_or_an_object_a_line(tmp_path, text):
    assert rows(written(tmp_path, "a.json", text)) == [("a", 1), ("b", 0)]


@pytest.mark.parametrize(
    "document",
    [
        {"text": {"0": "a film", "1": "b"}, "label": {"0": 1, "1": 0}},  # pandas' to_json()
        {"text": ["a film", "b"], "label": [1, 0]},
        {"version": "1.0", "data": [{"text": "a film", "label": 1}, {"text": "b", "label": 0}]},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_rows_inside_one_object_of_json(tmp_path, document, indent):
    path = written(tmp_path, "a.json", json.dumps(document, indent=indent))
    assert rows(path) == [("a film", 1), ("b", 0)]


def test_the_tokens_and_tags_of_one_sentence_are_not_columns(tmp_path):
    path = written(tmp_path, "a.json", '{"tokens": ["ein", "Wort"], "tags": ["x", "y"]}')
    assert rows(path, text="tokens", label="tags") == [(["ein", "Wort"], ["x", "y"])]


def test_names_inside_objects_are_written_with_a_dot(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"data": {"text": "a"}, "meta": {"label": {"name": "x"}}}\n')
    assert rows(path, text="data.text", label="meta.label.name") == [("a", "x")]


def test_an_object_without_a_name_does_not_hide_the_column_from_the_others(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"id": 1}\n{"text": "a", "label": "x"}\n')
    assert rows(path) == [(None, None), ("a", "x")]


def test_tokens_and_tags_may_be_texts(tmp_path):
    wanted = [(["ein", "Wort"], ["x", "y"])]
    assert rows(written(tmp_path, "a.csv", "tokens,tags\nein Wort,x y\n")) == wanted
    assert rows(written(tmp_path, "a.csv", 'tokens;tags\n"[""ein"", ""Wort""]";"[""x"", ""y""]"\n')) == wanted
    with pytest.raises(GlassformerError, match=r"line 2: tokens and tags must be words separated by spaces, or JSON lists."):
        rows(written(tmp_path, "a.csv", "tokens;tags\n['ein', 'Wort'];['x', 'y']\n"))


def test_conll_is_a_word_a_line_with_its_tag_last(tmp_path):
    text = "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n# sent 2\nPeter\tNNP\tI-NP\tB-PER\n"
    path = written(tmp_path, "a.conll", text)
    assert rows(path) == [(["EU", "rejects"], ["B-ORG", "O"]), (["Peter"], ["B-PER"])]
    assert rows(path, label=None) == [(["EU", "rejects"], None), (["Peter"], None)]
    with pytest.raises(GlassformerError, match=r"a.conll line 2 has a word without a tag: 'rejects'."):
        rows(written(tmp_path, "a.conll", "EU B-ORG\nrejects\n"))


def test_columns_can_be_chosen_and_labels_left_out(tmp_path):
    path = written(tmp_path, "a.csv", "review,stars\nfine,5\n")
    assert rows(path, text="review", label="stars") == [("fine", "5")]
    assert rows(path, text="review", label=None) == [("fine", None)]


def test_tokens_and_tags_are_found_by_their_names(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"tokens": ["ein", "Wort"], "tags": ["x", "y"]}\n')
    assert rows(path) == [(["ein", "Wort"], ["x", "y"])]


def test_plain_text_is_a_text_a_line(tmp_path):
    assert rows(written(tmp_path, "a.txt", "eins\n\n  \nzwei\n")) == [("eins", None), ("zwei", None)]


BAD = [
    (
        "a.csv",
        "body,stars\nx,1\n",
        "a.csv has no column 'text' and no column 'label'. Its columns: body, stars. Choose them with text=… (--text) and "
        "label=… (--label). The first line must name the columns.",
    ),
    ("a.csv", "body,label\nx,1\n", "a.csv has no column 'text'. Its columns: body, label. Choose one with text=… (--text)."),
    ("a.csv", "Text,TEXT,label\nx,y,1\n", "a.csv has no column 'text'."),
    ("a.csv", 'text,label\n"he said \\"no\\" twice",1\n', 'A double quote inside a quoted text is written twice: "".'),
    ("a.csv", 'text,"label\n', "a.csv line 1: unexpected end of data. Is a double quote never closed?"),
    (
        "a.csv",
        "PK\x03\x04…",
        "a.csv is not a text file: it is a zip archive or a spreadsheet. Unpack it, or save it as CSV UTF-8.",
    ),
    ("a.csv", "t\0e\0x\0t\0\n\0", "a.csv line 1 contains zero bytes, as in UTF-16: save it as UTF-8."),
    (
        "a.csv",
        "text,labels\nx,1\n",
        "no column 'label'. Did you mean 'labels'? Its columns: text, labels. Choose one with label=… (--label), or",
    ),
    ("a.csv", "text,label\na,1\nb,c,2\n", 'a.csv line 3 has 3 fields, the header has 2. A text that contains "," or goes over'),
    ("a.csv", 'text,label\n"x\ny",1\nb\n', "a.csv line 4 has 1 field, the header has 2."),
    ("a.csv", "text,label,text\na,1,b\n", "a.csv has the column 'text' twice in its header: rename one."),
    ("a.csv", 'text,label\na,1\n"never closed,2\nb,3\n', "a.csv line 3: unexpected end of data. Is a double quote never closed?"),
    ("a.csv", "\n \n", "a.csv is empty: there is no data."),
    ("a.jsonl", '{"text": "a", "label": 1}\n{"text": \n', "a.jsonl line 2 is not JSON: Expecting value"),
    ("a.jsonl", '{"text": "a", "text": "b", "label": 1}\n', "a.jsonl line 1: the key 'text' occurs twice in one object."),
    ("a.json", '[{"text": "a", "label": 1, "label": 2}]', "a.json: the key 'label' occurs twice in one object."),
    ("a.json", '{"text": "a", "label": 1, "label": 2}', "a.json: the key 'label' occurs twice in one object."),
    ("a.jsonl", '["a", 1]\n', 'a.jsonl line 1 must be an object {…}, found ["a", 1].'),
    ("a.jsonl", '{"a":' * 100_000 + "\n", "a.jsonl line 1 is not JSON: "),
    ("a.jsonl", "[\n", "a.jsonl line 1 starts a JSON list, but JSON Lines has one object per line: rename it to .json."),
    ("a.json", "[" * 100_000, "a.json is not JSON: "),
    (
        "a.json",
        '{"train": [{"text": "a"}], "test": [{"text": "b"}]}',
        "a.json contains several lists of rows: train, test.",
    ),
    ("a.json", "[1]", "a.json item 1 must be an object {…}, found 1."),
    ("a.jsonl", '{"txt": "a", "label": 1}\n', "a.jsonl has no column 'text'. Did you mean 'txt'? Its columns: txt, label."),
    (
        "a.xlsx",
        "",
        "a.xlsx is not of a known type: .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .conll, .txt, or a folder. Save a ",
    ),
    ("a.parquet.gz", "", "a.parquet.gz is not of a known type"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD)
def test_a_bad_table_is_one_line(tmp_path, name, text, message):
    with pytest.raises(GlassformerError) as error:
        rows(written(tmp_path, name, text))
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_line_too_long_to_be_parsed_is_refused(tmp_path, monkeypatch, name):
    import glassformer.training.data.lines as lines

    monkeypatch.setattr(lines, "LONGEST_LINE", 100)
    text = "text,label\n" + "x" * 200 + ",1\n" if name == "a.csv" else json.dumps({"text": "x" * 200, "label": 1})
    with pytest.raises(GlassformerError, match=rf"a.{name[2:]} line \d has more than 4,000,000 bytes: it was not read."):
        rows(written(tmp_path, name, text))


def test_the_limit_of_other_csv_readers_is_left_as_it_was(tmp_path):
    before = csv.field_size_limit()
    long = "x" * 300_000
    assert rows(written(tmp_path, "a.csv", f"text,label\n{long},1\n")) == [(long, "1")]
    assert csv.field_size_limit() == before


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"text": ["a", "b", None], "label": [1, 0, None], "more": [1.5, 2.5, 3.5]}), path)
    assert rows(path) == [("a", 1), ("b", 0), (None, None)]
    parquet.write_table(pyarrow.table({"tokens": [["a", "b"]], "tags": [[0, 1]]}), path)
    assert rows(path) == [(["a", "b"], [0, 1])]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(GlassformerError, match=r"a.parquet is not a readable Parquet file"):
        rows(path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *rest, **more)

    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(GlassformerError, match=r"a.parquet needs the package pyarrow: pip install 'glassformer\[data\]'."):
        rows(written(tmp_path, "a.parquet", ""))
