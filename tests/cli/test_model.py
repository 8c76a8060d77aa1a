"""verify, encode, predict and export, as a person uses them."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, tensors_of
from tiny_models import Case, guest, model_of, save

import glassformer as gf
from glassformer.cli.main import main
from glassformer.files.text_lines import LONGEST_LINE
from glassformer.numbers import open_checkpoint

CLASSES = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "glass", "1": "wall"}}


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: exit code, standard output and standard error."""

    def call(*words, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["glassformer", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as done:
            main()
        told = capsys.readouterr()
        return done.value.code, told.out, told.err

    return call


@pytest.fixture
def folder(tmp_path):
    return add_tokenizer(bert_folder(tmp_path / "m"))


def classifier(folder: Path, **changes) -> Path:
    config = {**CONFIG, **CLASSES, **changes}
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(config), **{**CLASSES, **changes}))


def some_texts(count):
    rng = np.random.default_rng(1)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 14))) for _ in range(count)]


# verify ------------------------------------------------------------------------------------------------------------------


def test_verify_prints_the_verdict_first_and_the_certificate_after_it(folder, run):
    code, out, _ = run("verify", folder)
    assert code == 0
    assert out.startswith("exact: BertModel, 1,544 parameters, stored as F32 (39 tensors).\n")
    assert re.search(
        r"layers\.\*\.attention\.W_Q +8 × 2 × 4 +encoder\.layer\.\*\.attention\.self\.query\.weight +8 × 8 +transposed", out
    )
    assert "model in float32, float64 run" in out
    assert "1.0e-10" in out


def test_verify_gives_one_json_document(folder, run):
    code, out, _ = run("verify", folder, "--json", "--no-original")
    document = json.loads(out)
    assert (code, document["verdict"], document["holds"], len(document["comparisons"])) == (0, "exact", True, 2)
    assert document["rows"][0]["tensor"] == "embeddings.word_embeddings.weight"
    assert document["bounds"]["float64"] == 1e-10
    assert document["comparisons"][0]["worst"] < 1e-12


def test_a_refused_folder_is_exit_1_and_a_mistyped_one_exit_2(tmp_path, run):
    code, out, err = run("verify", bert_folder(tmp_path / "m", num_hidden_layers=3))
    assert (code, err) == (1, "")
    assert out.startswith("refused: config.json has 3 layers, but model.safetensors has 2 (0 to 1).")
    code, out, err = run("verify", tmp_path / "n")
    assert (code, out) == (2, "")
    assert err.startswith("glassformer: no such folder: ")


# encode ------------------------------------------------------------------------------------------------------------------


def test_two_thousand_texts_come_out_in_order(tmp_path):
    folder, texts = add_tokenizer(bert_folder(tmp_path / "m")), some_texts(2000)
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "glassformer", "encode", str(folder), "--file", str(tmp_path / "texts.txt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["line"] for row in rows] == list(range(1, 2001))
    found = np.array([row["embedding"] for row in rows], dtype=np.float32)
    checkpoint = open_checkpoint(folder)
    for number in range(0, 2000, 97):  # the float64 run, a text at a time
        wanted = checkpoint.run(texts[number])["layers.1.out"][0].mean(0)
        assert np.abs(found[number] - wanted / np.linalg.norm(wanted)).max() < 1e-5


@pytest.mark.parametrize("way", ["--file", "-", "--file -"])
@pytest.mark.parametrize("form", ["npy", "jsonl", "parquet"])
def test_every_form_holds_the_same_vectors(folder, run, tmp_path, form, way):
    texts = some_texts(30)
    data = ("\ufeff" + "\r\n".join(texts)).encode()  # with a mark at the front and another system's line ends
    (tmp_path / "t.txt").write_bytes(data)
    out = tmp_path / f"x.{form}"
    words = ["--file", tmp_path / "t.txt"] if way == "--file" else way.split()
    code, told, err = run("encode", folder, *words, "--out", out, stdin=data)
    assert (code, told, err) == (0, f"{out}: 30 vectors.\n", "")
    if form == "npy":
        found = np.load(out)
    elif form == "jsonl":
        found = np.array([json.loads(line)["embedding"] for line in out.read_text().splitlines()], dtype=np.float32)
    else:
        table = guest("pyarrow.parquet").read_table(out)
        assert table["line"].to_pylist() == list(range(1, 31))
        found = np.array(table["embedding"].to_pylist(), dtype=np.float32)
    assert found.dtype == np.float32
    assert np.abs(found - gf.load(folder).encode(texts)).max() < 1e-6
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["m", "t.txt", out.name])


def test_a_large_npy_is_written_in_pieces_and_its_header_at_the_end(folder, run, tmp_path):
    (tmp_path / "t.txt").write_text("the glass\n" * 2500)
    code, _, _ = run(
        "encode", folder, "--file", tmp_path / "t.txt", "--out", tmp_path / "x.npy", "--pool", "first", "--no-normalise"
    )
    found = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert (code, found.shape) == (0, (2500, 8))
    assert np.ptp(np.asarray(found), axis=0).max() < 1e-6


def test_texts_on_the_command_line_and_a_report(folder, run, tmp_path):
    code, out, _ = run("encode", folder, "--text", "the glass", "--text", "walls")
    assert code == 0
    assert [json.loads(line)["line"] for line in out.splitlines()] == [1, 2]
    words = ("--text", "the glass", "--text", "", "--empty", "skip", "--out", tmp_path / "x.npy", "--json")
    code, out, err = run("encode", folder, *words)
    assert json.loads(out) == {"out": str(tmp_path / "x.npy"), "rows": 1, "cut": 0, "left_out": 1}
    assert err == "glassformer: skipped because empty: 1 of 2 texts.\n"


@pytest.mark.parametrize("command", ["encode", "predict"])
def test_a_text_without_its_option_gets_a_hint(folder, run, command):
    code, out, told = run(command, folder, "time flies")
    assert (code, out) == (2, "")
    way = 'give texts with --text "…", files with --out FOLDER, or - for standard input.'
    assert told == f"glassformer: 'time flies' is not a file: {way}\n"


def test_nothing_is_cut_unsaid(folder, run):
    data = b"the glass\n" + b"glass " * 20 + b"\n"
    code, out, err = run("encode", folder, "-", stdin=data)
    assert (code, out) == (2, "")
    assert err == (
        "glassformer: standard input line 2 has 22 tokens, this model takes 16. Split it, or truncate it, "
        "which drops the last 6.\n"
    )
    code, out, err = run("encode", folder, "-", "--truncate", stdin=data)
    assert (code, len(out.splitlines())) == (0, 2)
    assert err == "glassformer: truncated to 16 tokens: 1 of 2 texts.\n"


BAD_LINES = [
    (b"the\n\nglass\n", "line 2 is empty: it contains no tokens. empty=skip omits such texts."),
    (b"the\nglass \xff\n", "line 2 is not text: its byte 7 is not UTF-8. Save it as UTF-8."),
    ("the".encode("utf-16"), "line 1 is not text: its byte 1 is not UTF-8. It looks like UTF-16: save it as UTF-8."),
    (b"x" * 1_000_001, "line 1 has 1,000,001 characters; at most 1,000,000 are allowed."),
    (b"x" * (LONGEST_LINE + 5), "line 1 has more than 1,000,000 characters, which is the limit."),
    (
        b"glass " * 166_000,
        "line 1 has 166,002 tokens, this model takes 16. Split it, or truncate it, which drops the last 165,986.",
    ),
    (b"", "there are no texts: the input is empty."),
]


@pytest.mark.parametrize(("data", "message"), BAD_LINES)
def test_a_bad_line_is_named_and_leaves_no_file(folder, run, tmp_path, data, message):
    (tmp_path / "t.txt").write_bytes(data)
    code, out, err = run("encode", folder, "--file", tmp_path / "t.txt", "--out", tmp_path / "x.npy")
    assert (code, out) == (2, "")
    assert err.endswith(f"{message}\n")
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "t.txt"]


MISTAKES = [
    ("encode {m}", "no input texts: give --text (may be repeated), --file FILE, or - for standard input."),
    ("encode {m} --text a --file b", "no input texts"),
    ("encode {m} --file {t}/none.txt", "no such file: "),
    ("encode {m} --file {t}", "is a folder. Give a file with one text per line."),
    ("encode {m} --text a --out x.csv", "--out x.csv: the name must end in one of .npy, .jsonl, .parquet."),
    ("encode {m} --text a --out {t}/no/x.npy", "is in a folder that does not exist: create it first."),
    ("encode {m} --text a --json", "the output is JSON lines already: --json summarizes a file written with --out."),
    ("encode {m} --text a --pool median", "'median' is not one of"),
    ("encode {m} --text a --pool maen", "Did you mean 'mean'?"),
    ("encode {m} --text a --device tpu", "--device tpu is not known: cpu or cuda."),
    ("encode {t}/none --text a", "no such folder: "),
    ("predict {m} --text a", "BertModel predicts no classes: it has no head."),
    ("predict {m} --text a --out x.npy", "--out x.npy: the name must end in one of .jsonl, .parquet."),
    ("predict {m} --images {t}/none.npy", "no such file or folder: "),
    ("predict {m} --images {m}/config.json", "is not an array of numbers: "),
    ("predict {m} --images {m}", "contains no image (.png, .jpg, "),
    ("encode bert-base --text a", "bert-base is a preset, and presets have no weights. Name a folder with config.json and model"),
    # The model comes first: for a misspelt model, other options are not checked.
    ("encode bert-tyni --out x", "no such folder: bert-tyni. "),
    ("encode bert-tyni", "Did you mean 'bert-tiny'? That is a preset, and presets have no weights."),
    ("predict bert-tyni --images none.npy", "no such folder: bert-tyni. "),
    ("export {m}", "no output: give one of --onnx OUT.onnx, --folder OUT and --own OUT."),
    ("export {m} --onnx {t}/x.bin", "the name of an ONNX graph ends in .onnx."),
    ("export {m} --onnx {t}/x.onnx --dtype float16", "--dtype float16 is for folders"),
    ("export {m} --folder {m}", "is not empty: choose another one; nothing is overwritten."),
    ("verify {m} --as BertModle", "Did you mean 'BertModel'?"),
]


def test_invalid_images_are_refused(run, tmp_path):
    images, folder = tmp_path / "images.npy", save(model_of(Case("vit", "ViTForImageClassification")), tmp_path / "vit")
    for array, message in (
        (np.zeros((0, 3, 8, 8), np.float32), "there are no images: "),
        (np.stack([np.zeros((3, 8, 8)), np.full((3, 8, 8), np.nan)]), "image 1 has a NaN or infinite pixel."),
    ):
        np.save(images, array)
        code, out, err = run("predict", folder, "--images", images)
        assert (code, out, message in err) == (2, "", True)
    with (tmp_path / "two.npy").open("wb") as file:
        np.savez(file, a=np.zeros(3))
    code, _, err = run("predict", folder, "--images", tmp_path / "two.npy")
    assert (code, "is not an array of numbers: it is not an .npy file as written by numpy.save" in err) == (2, True)


def test_a_vocabulary_alone_is_not_a_tokenizer(run, tmp_path):
    folder = bert_folder(tmp_path / "m")
    (folder / "vocab.txt").write_text("a\n", encoding="utf-8")
    code, _, err = run("encode", folder, "--text", "a")
    assert (code, "vocab.txt alone is not supported: convert it to tokenizer.json with transformers' AutoTokenizer." in err) == (
        2,
        True,
    )


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_a_users_mistake_is_one_line_and_exit_2(folder, run, tmp_path, line, message):
    code, out, err = run(*line.format(m=folder, t=tmp_path).split())
    if line.startswith("verify"):  # the folder is there, and cannot be read so: that is an answer
        assert (code, message in out) == (1, True)
        return
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["encode", "predict"])
def test_vectors_that_are_there_are_not_overwritten(folder, run, tmp_path, command):
    there = tmp_path / "there.jsonl"
    there.write_text("kept\n")
    code, out, err = run(command, folder, "--text", "a", "--out", there)
    assert (code, out, there.read_text()) == (2, "", "kept\n")
    assert err.endswith("there.jsonl exists already: choose another name, nothing is overwritten.\n")


def test_a_closed_pipe_is_not_an_error(folder, tmp_path):
    (tmp_path / "t.txt").write_text("the glass\n" * 1500)
    command = f"{sys.executable} -m glassformer encode {folder} --file {tmp_path}/t.txt | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["line"] == 1


def test_progress_is_shown_on_a_terminal_and_not_in_a_pipe(folder, run, tmp_path, monkeypatch):
    (tmp_path / "t.txt").write_text("the glass\n" * 1500)
    words = ("encode", folder, "--file", tmp_path / "t.txt", "--out", tmp_path / "x.npy")
    assert run(*words)[2] == ""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "x.npy").unlink()
    run(*words)
    assert "1,500 texts" in terminal.getvalue()


def test_a_missing_torch_is_one_line(folder):
    barred = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'glassformer'; from glassformer.cli import main; main()"
    words = [sys.executable, "-c", barred, "encode", str(folder), "--text", "a"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "glassformer: this needs PyTorch, which is not installed: pip install 'glassformer[torch]'.\n"


# predict -----------------------------------------------------------------------------------------------------------------


def test_predict_gives_classes_with_probabilities(tmp_path, run):
    folder, texts = classifier(tmp_path / "m"), some_texts(12)
    (tmp_path / "t.txt").write_text("\n".join(texts))
    code, out, err = run("predict", folder, "--file", tmp_path / "t.txt")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    checkpoint = open_checkpoint(folder)
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        scores = np.exp(checkpoint.run(text)["head.logits"][0])
        wanted = dict(zip(["glass", "wall"], (scores / scores.sum()).tolist(), strict=True))
        assert row["line"] == number + 1
        assert row["probabilities"] == pytest.approx(wanted, abs=1e-5)
        assert (row["label"], row["probability"]) == (max(wanted, key=wanted.get), pytest.approx(max(wanted.values()), abs=1e-5))


def test_predictions_fit_into_a_parquet_file(tmp_path, run):
    folder = classifier(tmp_path / "m")
    code, out, _ = run("predict", folder, "-", "--out", tmp_path / "x.parquet", stdin=b"the\nglass\n")
    assert (code, out) == (0, f"{tmp_path / 'x.parquet'}: 2 predictions.\n")
    rows = guest("pyarrow.parquet").read_table(tmp_path / "x.parquet").to_pylist()
    assert [row["line"] for row in rows] == [1, 2]
    assert set(rows[0]["probabilities"]) == {"glass", "wall"}


def test_tags_are_a_list_of_tokens(tmp_path, run):
    folder = classifier(tmp_path / "m", architectures=["BertForTokenClassification"])
    code, out, _ = run("predict", folder, "--text", "the glass")
    tokens = json.loads(out)["tokens"]
    assert (code, [one["token"] for one in tokens]) == (0, ["[CLS]", "the", "glass", "[SEP]"])
    assert tokens[0]["label"] in ("glass", "wall")


# export ------------------------------------------------------------------------------------------------------------------


def test_export_writes_folders_that_load_and_count(folder, run, tmp_path):
    assert run("export", folder, "--folder", tmp_path / "hf", "--dtype", "bfloat16") == (
        0,
        f"{tmp_path / 'hf'}: BertModel, 1,544 parameters, bfloat16.\n",
        "",
    )
    code, out, _ = run("verify", tmp_path / "hf", "--no-original")
    assert (code, out.startswith("exact: BertModel, 1,544 parameters, stored as BF16 (39 tensors).")) == (0, True)
    assert run("export", folder, "--own", tmp_path / "own", "--json")[0] == 0
    assert json.loads(run("count", tmp_path / "own", "--json")[1])["total"] == 1544
    vector = run("encode", folder, "--text", "the glass")[1]
    assert run("encode", tmp_path / "own", "--text", "the glass")[1] == vector
    code, _, said = run("export", tmp_path / "own", "--folder", tmp_path / "again")
    assert code == 2 and said.endswith("in our own layout, and --folder OUT writes the layout of transformers. Give --own OUT.\n")
    # A training run stands for its best weights.
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text("{}")
    code, _, said = run("encode", tmp_path / "run", "--text", "the glass")
    assert code == 2 and "is a training run that has not finished: best/ is missing." in said
    (tmp_path / "own").rename(tmp_path / "run/best")
    assert run("encode", tmp_path / "run", "--text", "the glass")[1] == vector


@pytest.mark.slow
def test_export_writes_a_checked_onnx_graph(folder, run, tmp_path):
    guest("onnxruntime")
    code, out, _ = run("export", folder, "--onnx", tmp_path / "m.onnx")
    assert code == 0
    assert "input_ids, attention_mask, token_type_ids -> last_hidden_state, pooler_output. Largest difference " in out
    assert "(allowed 1e-04)." in out
    assert run("export", folder, "--onnx", tmp_path / "m.onnx")[0] == 2


@pytest.mark.parametrize(
    "line",
    ["explain {m} layers.0.attention.scores head=0 t=0 s=1 --tokens 1,2", "attention {m} --tokens 1,2", "report {m} --out {o}"],
)
def test_every_command_that_reads_a_checkpoint_takes_its_class(line, tmp_path, run):
    """A message that says `--as` is a way out only where there is such an option."""
    folder = bert_folder(tmp_path / "m", architectures=["BertForNobody"])
    words = line.format(m=folder, o=tmp_path / "r.html").split()
    code, _, err = run(*words)
    assert (code, "--as" in err) == (2, True)
    assert run(*words, "--as", "BertModel")[0] == 0


@pytest.mark.parametrize("command", ["verify", "encode", "predict", "export"])
def test_the_help_has_examples_without_torch(command):
    barred = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'glassformer'; from glassformer.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", barred, command, "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"glassformer {command} path/to/" in done.stdout


def test_help_offers_only_the_endings_that_are_written(run):
    assert ".npy" in run("encode", "--help")[1]
    out = run("predict", "--help")[1]
    assert "FILE.npy" not in out and "FILE.jsonl" in out and "FILE.parquet" in out


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_encode_leaves_no_file_behind(folder, tmp_path, sent):
    out = tmp_path / "vectors.jsonl"
    command = [sys.executable, "-m", "glassformer", "encode", str(folder), "-", "--out", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        until = time.monotonic() + 60  # standard input stays open, so the command waits with its file begun
        while not list(tmp_path.glob(".vectors*")) and time.monotonic() < until:
            time.sleep(0.05)
        assert list(tmp_path.glob(".vectors*"))
        running.send_signal(sent)
        assert running.wait(60) == 128 + sent
    assert not list(tmp_path.glob("*vectors*")) and not list(tmp_path.glob(".vectors*"))
