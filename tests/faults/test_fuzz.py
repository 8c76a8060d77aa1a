"""Every reader of untrusted files, on mutants of valid ones: a result or one line, and nothing happens except reading."""

import json
import random
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from audit import watched
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, file_bytes, header_and_data, sharded
from faults.mutants import changed, damaged, fuzz, mutant_of_json
from quiz_texts import CARRYING

from glassformer.answers.documents import check_solution
from glassformer.answers.problems import check_worked
from glassformer.answers.problems.claims import claims_in_file
from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.submissions import read_submissions
from glassformer.answers.verdicts import check as diagnose
from glassformer.checkpoints.folder import LABELS
from glassformer.configs.reading import from_document, request
from glassformer.files.documents import parse_json, read_document
from glassformer.files.safetensors_header import parse_header
from glassformer.files.texts import TOKENIZER, cut_into_tokens, load_tokenizer
from glassformer.files.weight_files import INDEX, find_weights
from glassformer.numbers.by_hand import load_problem, solve

ROOT = Path(__file__).parents[2]
SMALL, FULL = 30, 3_000
counts = pytest.mark.parametrize("count", [SMALL, pytest.param(FULL, marks=pytest.mark.slow)])

# .safetensors -----------------------------------------------------------------------------------------------------------

TENSORS = {
    "embeddings.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bias": np.zeros(4, dtype=np.float16),
    "empty": np.zeros((0, 3)),
}

HEADERS = """
import json, random, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
sys.path.insert(0, {tests!r})
from faults.mutants import fuzz
from faults.test_fuzz import header_mutants, read_all_of_a_header
told = fuzz(read_all_of_a_header, header_mutants({count}))
print(json.dumps([str(told), told.refused]))
"""


def header_mutants(count, seed=31):
    """Half of them have changed bytes, half are JSON headers with wrong content."""
    chance = random.Random(seed)
    header, data = header_and_data(TENSORS)
    good = file_bytes({"__metadata__": {"format": "np"}, **header}, data)
    for number in range(count):
        yield damaged(good, chance) if number % 2 else file_bytes(json.dumps(changed(header, chance)), data)


def read_all_of_a_header(data):
    found = parse_header(data, name="model.safetensors")
    spans = sorted((entry.start, entry.stop) for entry in found.tensors.values())
    assert not spans or spans[-1][1] == len(data)


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_mutants_of_weights_are_read_or_refused_within_a_gigabyte(count, figure):
    code = HEADERS.format(tests=str(ROOT / "tests"), count=count)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told, refused = json.loads(done.stdout)
    assert refused > 0.7 * count
    figure("F1", f"{told}, in a process of at most 1 GB", cases=count)


def test_the_reference_parser_reads_whatever_we_accept(figure):
    reference = pytest.importorskip("safetensors")
    accepted = 0
    for data in header_mutants(6_000, seed=32):
        try:
            ours = parse_header(data)
        except ValueError:
            continue
        accepted += 1
        theirs = {name: tuple(value["shape"]) for name, value in dict(reference.deserialize(data)).items()}
        assert theirs == {name: entry.shape for name, entry in ours.tensors.items()}
    assert accepted > 100
    figure("F1", f"{accepted:,} accepted mutants are read identically by the safetensors package", cases=6_000)


def test_a_duplicate_key_is_refused_everywhere(figure):
    header, data = header_and_data(TENSORS)
    chance, refused = random.Random(33), 0
    for number in range(200):
        document = [header, CONFIG][number % 2]
        text = json.dumps(document)
        name = chance.choice(list(document))
        twice = text[:-1] + f", {json.dumps(name)}: {json.dumps(document[name])}}}"
        read = (lambda text: parse_header(file_bytes(text, data))) if number % 2 == 0 else (lambda text: parse_json(text, "x"))
        read(text)
        with pytest.raises(ValueError, match=rf"the key '{name}' occurs twice in one object\.$"):
            read(twice)
        refused += 1
    figure("F2", f"{refused} of 200 refused, with the key named", cases=200)


# Everything else --------------------------------------------------------------------------------------------------------

SPEC = {"base": "bert-base", "layers": 3, "d_model": 64, "heads": 4, "biases": ["q", "k"], "norm": "pre", "eps": 1e-5, "t": 16}
SETTINGS = {"epochs": 2, "batch_size": 8, "lr": 0.001, "decay": "cosine", "clip": 1.0, "patience": None, "seed": 3}
RUN = {"format": 1, "data": {"source": {"what": "digits"}, "fingerprint": "x", "labels": ["a", "b"]}, "predicted": {}}
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["$3 \\times 4 = 12$\n", "so 5 + 5 = 11"]},
        {"cell_type": "code", "source": "x = 3 * 4  # = 12", "outputs": [{"text": "9**9**9"}]},
    ],
    "nbformat": 4,
}
SOLUTION = """# One layer
W_Q, W_K, W_V: 3 × 64 × 64 = 12,288, FFN: 2 × 64 × 120 = 15,360. Total: 27,648
$$\\text{softmax}([1, 2]) = [0.27, 0.73]$$ and Q = X W_Q has shape 5 × 64.
```glassformer
spec: layer d_model=64 heads=4
params = 27648
```
"""
CLAIMS = ["27648", "27,648", "about 110 million", "1.1e8", "2.5 × 10^6", "64 x 32", "[1, 5, 768]", "[[1, 2], [3, 4]]", "50 %"]


def toml(document):
    """A small document as TOML; the reader refuses values that TOML lacks (null, huge numbers)."""
    plain = {str(key): value for key, value in document.items() if value is not None}
    return "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in plain.items()).encode("utf-8", "replace")


def read_run(folder):
    from glassformer.training.runs import Run

    return Run.open(folder)


def read_settings(folder):
    from glassformer.model.sentences.settings import read_settings as read

    return read(folder)


class Reader:
    """A kind of file: what makes a good folder, which file of it is changed, and how it is read."""

    def __init__(self, read, mutant, *, name="x.json", prepare=None, limit=1.0):
        self.read, self.mutant, self.name, self.prepare, self.limit = read, mutant, name, prepare, limit


def of_json(document):
    return lambda chance: mutant_of_json(document, chance)


def of_text(text):
    return lambda chance: damaged(text.encode(), chance)


def of_toml(document):
    return lambda chance: toml(changed(document, chance)) if chance.random() < 0.5 else damaged(toml(document), chance)


def write(name, document):
    return lambda folder: (folder / name).write_text(json.dumps(document), encoding="utf-8")


def all_of(*steps):
    return lambda folder: [step(folder) for step in steps] and None


QUIZ = parse_set(CARRYING, "carrying")
SHEET = 'student,layer,all,scores\nAda,29184,175104,"[0.7, 1.4]"\nBo,27648,x,\nAda,1e3,1/3,√2\n'
PROBLEM = tomllib.loads((ROOT / "examples" / "flying.toml").read_text(encoding="utf-8"))

READERS = {
    "config.json": Reader(
        lambda folder: from_document(read_document(folder / "config.json"), source="config.json"),
        of_json(CONFIG),
        name="config.json",
    ),
    "index.json": Reader(
        find_weights,
        lambda chance: mutant_of_json(INDEXED, chance),
        name=INDEX,
        prepare=lambda folder: sharded(folder),
    ),
    "tokenizer.json": Reader(
        lambda folder: cut_into_tokens(load_tokenizer(folder), "the glass walls of an encoder", "text"),
        lambda chance: mutant_of_json(TOKENS, chance),
        name=TOKENIZER,
    ),
    "spec.toml": Reader(lambda folder: request(folder / "spec.toml"), of_toml(SPEC), name="spec.toml"),
    "spec.json": Reader(lambda folder: request(folder / "spec.json"), of_json(SPEC), name="spec.json"),
    "labels.json": Reader(
        lambda folder: read_document(folder / LABELS), of_json({"id2label": {"0": "a", "1": "b"}}), name=LABELS
    ),
    "modules.json": Reader(
        read_settings,
        of_json(MODULES),
        name="modules.json",
        prepare=all_of(
            bert_folder,
            lambda folder: (folder / "1_Pooling").mkdir(),
            write("1_Pooling/config.json", {"word_embedding_dimension": 8}),
        ),
    ),
    "problem.json": Reader(lambda folder: solve(load_problem(folder / "p.json")), of_json(PROBLEM), name="p.json", limit=3.0),
    "claims.json": Reader(
        lambda folder: check_worked(ROOT / "examples" / "flying.toml", claims_in_file(folder / "c.json")),
        of_json({"weights": [0.62, 0.38], "output": [0.245, 0.245]}),
        name="c.json",
        limit=3.0,
    ),
    "a claim": Reader(
        lambda folder: diagnose("params", BERT, claim=(folder / "claim").read_text(encoding="utf-8", errors="replace")),
        lambda chance: damaged(chance.choice(CLAIMS).encode(), chance),
        name="claim",
        limit=3.0,
    ),
    "solution.md": Reader(lambda folder: check_solution(folder / "a.md"), of_text(SOLUTION), name="a.md", limit=3.0),
    "solution.tex": Reader(lambda folder: check_solution(folder / "a.tex"), of_text(SOLUTION), name="a.tex", limit=3.0),
    "notebook.ipynb": Reader(lambda folder: check_solution(folder / "a.ipynb"), of_json(NOTEBOOK), name="a.ipynb", limit=3.0),
    "a quiz set": Reader(
        lambda folder: parse_set((folder / "q.toml").read_text(encoding="utf-8", errors="replace"), "q"),
        of_text(CARRYING),
        name="q.toml",
    ),
    "answers.csv": Reader(
        lambda folder: grade(QUIZ, read_submissions(folder / "a.csv", QUIZ)), of_text(SHEET), name="a.csv", limit=3.0
    ),
    **{
        f"run folder: {name}": Reader(
            read_run,
            of_json(document),
            name=name,
            prepare=all_of(
                write("run.json", RUN), write("spec.json", {"d_model": 8, "heads": 2}), write("settings.json", SETTINGS)
            ),
        )
        for name, document in (("run.json", RUN), ("spec.json", SPEC), ("settings.json", SETTINGS))
    },
}
BERT = request("bert-tiny")
INDEXED = {"metadata": {}, "weight_map": {}}
TOKENS = {}


@pytest.fixture
def folder(tmp_path):
    """A valid folder for each reader, and the valid documents from which mutants are made."""
    made = tmp_path / "given"
    made.mkdir()
    sharded(tmp_path / "sharded")
    INDEXED["weight_map"] = dict(list(json.loads((tmp_path / "sharded" / INDEX).read_text())["weight_map"].items())[:6])
    add_tokenizer(made)
    TOKENS.update(json.loads((made / TOKENIZER).read_text(encoding="utf-8")))
    TOKENS["model"]["vocab"] = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS[:5]])}
    (made / TOKENIZER).unlink()
    return made


MODEL_FILES = [name for name in READERS if name.endswith((".json", ".toml")) and name not in ("tokenizer.json", "claims.json")]
ANSWERS = [name for name in READERS if name not in (*MODEL_FILES, "tokenizer.json", "notebook.ipynb")]
FEW_REFUSED = ("a claim", "solution.md", "solution.tex", "answers.csv", "labels.json")  # most mutants are still texts or labels


def fuzzed(kind, count, folder):
    """What a fuzzer says of one kind of file; anything that happened but the reading of the folder fails."""
    reader = READERS[kind]
    if reader.prepare is not None:
        reader.prepare(folder)
    chance = random.Random(f"{kind} 34")

    def read(content):
        (folder / reader.name).write_bytes(content)
        reader.read(folder)

    fuzz(read, (reader.mutant(chance) for _ in range(25)), limit=20)  # whatever is imported on first use
    with watched(folder) as seen:
        told = fuzz(read, (reader.mutant(chance) for _ in range(count)), limit=reader.limit)
    ours = (str(ROOT / "examples"), "/proc/self/status")  # the problem that claims are about, and the memory of this process
    assert [event for event in seen if not (event[0] == "open" and event[1].startswith(ours))] == []
    assert kind in FEW_REFUSED or told.refused > count // 10
    return f"{kind} {told.count:,} mutants ({told.refused:,} refused, the slowest {1000 * told.slowest:.0f} ms)"


@counts
@pytest.mark.parametrize("kind", MODEL_FILES)
def test_a_mutant_of_a_model_file_is_read_or_refused_in_one_line(kind, count, folder, figure):
    figure("F14", fuzzed(kind, count, folder), cases=count, part=kind)


@counts
@pytest.mark.parametrize("kind", ANSWERS)
def test_a_mutant_of_an_answer_is_graded_or_refused_in_one_line(kind, count, folder, figure):
    figure("Q2", fuzzed(kind, count, folder), cases=count, part=kind)


@counts
def test_a_mutant_of_a_notebook_is_read_or_refused_and_never_run(count, folder, figure):
    figure("Q3", f"{fuzzed('notebook.ipynb', count, folder)}: no events other than reading it", cases=count)


@counts
def test_a_mutant_of_a_tokenizer_is_used_or_refused_in_one_line(count, folder, figure, capfd):
    figure("F13", fuzzed("tokenizer.json", count, folder), cases=count)
