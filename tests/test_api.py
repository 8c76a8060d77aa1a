"""The Python side, misused: whatever is handed in, the answer is right, or one line says what is wrong."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import add_tokenizer, bert_folder

import glassformer as gf
from glassformer import GlassformerError
from glassformer.numbers import by_hand

WRONG = {
    "a float": 1.5,
    "bytes": b"x",
    "a list of lists": [[["x"]]],
    "a list of nothing": [None],
    "an object": object(),
    "a number with 5,000 digits": 10**5000,
    "an array": np.zeros((2, 3)),
    "an array of words": np.array(["a", "b"]),
    "an array without axes": np.array(1.5),
    "a set": {1, 2},
    "a type": int,
    "a path that is not there": Path("nowhere/at/all"),
    "half a character": "\ud800",
    "a name that no file can have": "a\0b",
}
PROBLEM = {"Q": [[2, 0], [0, 2]], "K": [[0, 2], [2, 0]], "V": [[1], [3]]}
RUN = gf.run("encoder", tokens=[1, 2, 3], d_model=8, heads=2, d_ff=16, layers=2, vocab=20)
OPENED = RUN.explain("layers.0.attention.mix", t=1, head=0, d_v=1)

# What is called with something wrong in one place, by what stands there.
CALLS = {
    "count of": lambda wrong: gf.count(wrong),
    "count without": lambda wrong: gf.count("bert-tiny", without=wrong),
    "count only": lambda wrong: gf.count("bert-tiny", only=wrong),
    "a choice": lambda wrong: gf.spec("bert-tiny", activation=wrong),
    "a class": lambda wrong: gf.count({"model_type": "bert"}, as_class=wrong),
    "padded": lambda wrong: gf.build("bert-tiny", padded=wrong),
    "convention of shapes": lambda wrong: gf.shapes("bert-tiny", convention=wrong),
    "convention of notation": lambda wrong: gf.notation("bert-tiny", convention=wrong),
    "latex": lambda wrong: gf.notation("bert-tiny", latex=wrong),
    "head": lambda wrong: gf.shapes("bert-tiny", head=wrong),
    "a tensor": lambda wrong: gf.shapes("bert-tiny")[wrong],
    "train": lambda wrong: gf.cost("bert-tiny", train=wrong),
    "kernel": lambda wrong: gf.cost("bert-tiny", kernel=wrong),
    "masked": lambda wrong: gf.cost("bert-tiny", masked=wrong),
    "tokens": lambda wrong: gf.run("encoder", tokens=wrong, d_model=8, heads=2, vocab=20, layers=1),
    "seed": lambda wrong: gf.run("layer", seed=wrong, d_model=8, heads=2),
    "a value": lambda wrong: RUN[wrong],
    "a difference": lambda wrong: gf.swap_tokens(RUN, 0, 1).change(wrong),
    "a cell": lambda wrong: RUN.cell("x", wrong),
    "an index": lambda wrong: RUN.explain("x", t=wrong, d_model=0),
    "a layer": lambda wrong: RUN.attention(layer=wrong),
    "a head of a grid": lambda wrong: RUN.attention().grid(0, wrong),
    "a text of attention": lambda wrong: RUN.attention(batch=wrong),
    "changes": lambda wrong: RUN.what_if(wrong),
    "a number of a cell": lambda wrong: RUN.what_if({"tokens": {(0, 0): wrong}}),
    "what opens": lambda wrong: OPENED.open(wrong),
    "digits": lambda wrong: OPENED.text(digits=wrong),
    "depth": lambda wrong: OPENED.text(depth=wrong),
    "most": lambda wrong: OPENED.numbers(most=wrong),
    "a run": lambda wrong: gf.knock_out(wrong, 0, 0),
    "a run to swap in": lambda wrong: gf.swap_tokens(wrong, 0, 1),
    "heads": lambda wrong: gf.knock_out(RUN, 0, wrong),
    "layer": lambda wrong: gf.knock_out(RUN, wrong, 0),
    "an experiment": lambda wrong: gf.experiment(wrong),
    "a problem": lambda wrong: gf.work(wrong),
    "a problem to parse": lambda wrong: by_hand.parse_problem(wrong),
    "a problem to solve": lambda wrong: by_hand.solve(wrong),
    "curves": lambda wrong: gf.curves(wrong),
    "something live": lambda wrong: gf.live(wrong),
    "a formula's shape": lambda wrong: gf.check_formula("Q K^T", {"Q": wrong, "K": (2, 3)}),
    "a problem to check": lambda wrong: gf.check_worked(wrong),
    "a solution": lambda wrong: gf.check_solution(wrong),
    "claims in a file": lambda wrong: gf.check_worked(PROBLEM, claims_file=wrong),
    "what to work out": lambda wrong: gf.work(PROBLEM, ask=wrong),
    "memory": lambda wrong: gf.largest_batch("bert-tiny", wrong),
    "data to train on": lambda wrong: gf.train(wrong),
    "a model to train": lambda wrong: gf.train("digits", wrong),
    "fields to train": lambda wrong: gf.train("digits", fields=wrong),
    "epochs": lambda wrong: gf.train("digits", epochs=wrong),
    "a setting": lambda wrong: gf.train("digits", warmup=wrong),
    "a run to resume": lambda wrong: gf.resume(wrong),
    "data to look into": lambda wrong: gf.data(wrong),
    "rows to show": lambda wrong: gf.data("digits", rows=wrong),
    "a checkpoint to verify": lambda wrong: gf.verify(wrong),
    "a checkpoint to encode with": lambda wrong: gf.encode(wrong, ["a"]),
    "a checkpoint to predict with": lambda wrong: gf.predict(wrong, ["a"]),
    "a checkpoint to export": lambda wrong: gf.export(wrong, own="nowhere/at/all/out"),
    "a report": lambda wrong: gf.report(wrong, out="nowhere/at/all/report.html"),
    "parts of a report": lambda wrong: gf.report("bert-tiny", without=wrong, out="nowhere/at/all/report.html"),
    "a result to draw": lambda wrong: gf.save_picture(wrong, "nowhere/at/all/picture.png"),
    "a quiz": lambda wrong: gf.make_quiz(wrong, "nowhere/at/all/papers"),
    "a quiz to grade": lambda wrong: gf.grade_quiz(wrong, "nowhere/at/all.csv"),
    "answers": lambda wrong: gf.grade_quiz("parameters", wrong),
}
NO_TEXTS = [name for name, wrong in WRONG.items() if not isinstance(wrong, str)]
LONG = "a number with 5,000 digits"
MAY_PASS = {("a formula's shape", "an array of words"), *((call, LONG) for call in ("seed", "depth", "most", "memory"))}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_argument_is_refused_in_one_line(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, wrong in WRONG.items():
        if (call, name) in MAY_PASS:
            continue
        with pytest.raises(GlassformerError) as refusal:
            pytest.fail(f"{call} with {name} gave {CALLS[call](wrong)!r}")
        assert "\n" not in str(refusal.value) and 10 < len(str(refusal.value)) < 500, name


@pytest.mark.parametrize("name", NO_TEXTS)
@pytest.mark.parametrize("ask", [gf.ask, gf.check, gf.check_formula])
def test_questions_and_formulas_are_strings(ask, name):
    with pytest.raises(GlassformerError, match="must be a string, found"):
        ask(WRONG[name])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gf.shapes("bert-tiny", convention="column"), "convention=column is not known. Did you mean 'columns'?"),
        (lambda: gf.notation("bert-tiny", convention="row"), "convention=row is not known. Did you mean 'rows'?"),
        (lambda: gf.cost("bert-tiny", train="no"), "train=no is not allowed: train must be True or False."),
        (lambda: gf.shapes("bert-tiny", head="0"), "head=0 does not exist: the heads are 0 to 1."),
        (lambda: gf.shapes("bert-tiny")["weights"], "Did you mean 'layers.0.attention.weights'?"),
        (lambda: RUN[0], "a value of a run is selected by its name, such as 'tokens', found 0."),
        (lambda: OPENED.open(99), "has no ref 99: its refs are 0 to 5."),
        (lambda: gf.count("bert-tiny", without=[1]), "parts are words, such as 'biases,norms'"),
        (lambda: gf.work(""), "problem= is not allowed: problem must be a path"),
        (lambda: gf.check_worked(PROBLEM, [1]), "claims=[1] is not allowed"),
        (lambda: gf.check_formula("Q K^T", {"Q": (2, None)}), "(2, None) is not a shape for Q: write (768, 6)"),
        (lambda: gf.check_formula("Q K^T", 5), "shapes=5 is not allowed"),
    ],
)
def test_the_message_names_the_way_out(call, said):
    with pytest.raises(GlassformerError) as refusal:
        call()
    assert said in str(refusal.value)


def test_numpy_numbers_are_accepted():
    one = np.int64(1)
    assert gf.shapes("bert-tiny", head=one).head == 1
    assert gf.spec("bert-tiny", layers=one, embedding_norm=np.bool_(False)).layers == 1
    assert gf.cost("bert-tiny", train=np.bool_(True), masked=np.float32(1)).which == "training"
    assert OPENED.open(one).label == OPENED.open(1).label
    assert OPENED.text(digits=np.int64(4)) == OPENED.text()
    same = [gf.run("layer", d_model=8, heads=2, seed=seed).output for seed in (3, np.uint8(3))]
    assert np.array_equal(*same)
    assert gf.run("encoder", tokens=np.array([1, 2, 3]), d_model=8, heads=2, vocab=20, layers=1).program.sizes.t == 3
    assert gf.check_formula("Q K^T", {"Q": np.zeros((2, 3)).shape, "K": np.array([4, 3])}).verdict == "fits"
    assert gf.check_worked(PROBLEM, "dot = [[0, 4], [4, 0]]").judged[0].right


def test_a_result_says_in_one_line_what_it_is():
    assert repr(gf.count("bert-base")) == "<Count of bert-base: 109,482,240 parameters in 199 tensors>"
    assert repr(gf.bridge("bert-tiny", "bert-mini")) == "<Bridge from bert-tiny to bert-mini: +6,784,640 parameters>"
    assert repr(gf.shapes("layer", t=5)) == f"<Shapes of layer: {len(gf.shapes('layer'))} tensors, tokens as rows, batch=1 t=5>"
    assert repr(gf.cost("layer", t=5)).startswith("<Cost of layer: ")
    assert repr(gf.notation("layer")).startswith("<Notation of layer: ")
    assert repr(gf.build("layer", t=5)).startswith("<Program of ")
    assert repr(gf.ask("params", "bert-base")) == "<Answer params: 109482240 parameters>"
    assert repr(gf.swap_tokens(RUN, 0, 1)).startswith("<Difference: tokens changed, ")
    assert repr(gf.experiment("order")) == "<experiment order, seed 0: the claim holds>"


def test_names_can_be_gone_through():
    shapes = gf.shapes("layer", t=5)
    assert len(list(shapes)) == len(shapes) and "layers.0.attention.q" in shapes and "q" not in shapes
    assert shapes._ipython_key_completions_() == list(shapes)
    assert len(RUN) == len(list(RUN)) and "x" in RUN and 5 not in RUN and [1] not in RUN
    difference = gf.swap_tokens(RUN, 0, 1)
    assert list(difference) == list(RUN) and difference.change("x").shape == RUN["x"].shape


@pytest.mark.parametrize(
    "found",
    [gf.count("bert-tiny"), gf.shapes("layer"), gf.cost("layer"), RUN, OPENED, gf.work(PROBLEM), gf.experiment("norm")],
    ids=lambda found: type(found).__name__,
)
def test_a_result_can_be_copied_packed_and_compared(found):
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert (str(other), repr(other)) == (str(found), repr(found))
        assert isinstance(found == other, bool)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return add_tokenizer(bert_folder(tmp_path_factory.mktemp("models") / "bert"))


def test_a_checkpoint_runs_on_numpy_ids(checkpoint):
    runs = [gf.run(checkpoint, tokens=tokens) for tokens in ([1, 2, 3], np.array([1, 2, 3]), (1, 2, 3))]
    assert all(np.array_equal(run.output, runs[0].output) for run in runs)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tokens": [1, -1]}, "tokens[0, 1] = -1 is out of range"),
        ({"tokens": [1, 10**18]}, "tokens[0, 1] = 1000000000000000000 is out of range"),
        ({"tokens": [1, 0.5]}, "tokens must be whole numbers"),
        ({"tokens": 5}, "tokens=5 is not allowed: tokens must be a list of ids"),
        ({"text": 5}, "text 0 must be a text or a pair of texts, found 5."),
    ],
)
def test_an_invalid_input_of_a_checkpoint_is_refused_in_one_line(checkpoint, given, said):
    with pytest.raises(GlassformerError) as refusal:
        gf.run(checkpoint, **given)
    assert said in str(refusal.value)


@pytest.mark.parametrize("name", ["Z", "", 0, None, "q"])
def test_the_error_for_an_unknown_expression_of_a_formula_lists_the_known_ones(name):
    found = gf.check_formula("Q = X W_Q", {"X": (6, 768), "W_Q": "768x64"})
    assert found["Q"] == (6, 64)
    with pytest.raises(GlassformerError, match=r"in this formula.*Expressions: X, W_Q, Q"):
        found[name]


@pytest.mark.parametrize("given", [{"text": "a b c"}, {"tokens": [1, 2, 3]}])
def test_a_size_that_contradicts_the_input_is_refused(given):
    fields = {"d_model": 8, "heads": 2, "layers": 1, "vocab": 9}
    assert gf.run("encoder", **given, **fields, t=3, batch=1).program.sizes.t == 3
    for name, size, found in (("t", 9, 3), ("batch", 2, 1)):
        line = f"{name}={size} contradicts the input, which has {name}={found}. Leave {name} out."
        with pytest.raises(GlassformerError, match=line):
            gf.run("encoder", **given, **fields, **{name: size})


def test_a_field_cannot_change_a_checkpoint(checkpoint):
    for fields in ({"layers": 1}, {"t": 4}):
        with pytest.raises(
            GlassformerError, match=r"holds weights, which fit only the encoder they were saved from. Leave (layers|t) out, or"
        ):
            gf.run(checkpoint, tokens=[1, 2], **fields)
    assert gf.run(Path(checkpoint) / "config.json", tokens=[1, 2], layers=1).program.spec.layers == 1
    with pytest.raises(GlassformerError, match=r"^seed=3 has no effect: .* holds weights\. Leave the seed out"):
        gf.run(checkpoint, tokens=[1, 2], seed=3)
