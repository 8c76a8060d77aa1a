"""Every tool gives what the command of its name prints with --json; every refusal is one line that says what to try."""

import json
from pathlib import Path

import pytest
from assistant import refused, through_client, told
from command_line import glassformer

from glassformer.mcp.tools import TOOLS

ROOT = Path(__file__).parents[2]


def printed(*words):
    return json.loads(glassformer(*words, "--json", cwd=ROOT).stdout)


LAYER = "layer d_model=64 heads=4 d_k=16 d_ff=120"
SAME = [
    ("count", {"spec": LAYER, "without": "biases,norms"}, ["count", *LAYER.split(), "--without", "biases,norms"]),
    ("shapes", {"spec": "layer t=5", "columns": True}, ["shapes", "layer", "t=5", "--columns"]),
    ("cost", {"spec": LAYER, "train": True, "rows": 100}, ["cost", *LAYER.split(), "--train"]),
    ("presets", {}, ["presets"]),
    ("presets", {"decoders": True}, ["presets", "--decoders"]),
    ("presets", {"name": "bert-base"}, ["presets", "bert-base"]),
    (
        "explain",
        {"spec": "layer d_model=4 heads=2 t=3", "tensor": "layers.0.attention.weights", "cell": {"head": 1, "t": 0, "s": 2}},
        ["explain", "layer", "d_model=4", "heads=2", "t=3", "layers.0.attention.weights", "head=1", "t=0", "s=2"],
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "words"), SAME, ids=[f"{tool}-{place}" for place, (tool, *_) in enumerate(SAME)])
def test_a_tool_gives_what_the_command_prints(tool, arguments, words):
    assert told(tool, **arguments) == printed(*words)


def test_work_gives_the_steps_of_the_command_for_an_object_a_text_or_a_file():
    problem = {"title": "t", "q": [0, 1], "k": [[1, 1], [0, -1]], "v": [[1, 1], [-1, -1]]}
    found = told("work", problem=problem)
    assert found["values"]["weights"] == pytest.approx([0.8044, 0.1956], abs=1e-4)
    assert told("work", problem=json.dumps(problem)) == found
    examples = ROOT / "examples"
    assert told("work", folders=[examples], problem="flying.toml") == printed("work", "examples/flying.toml")


def test_work_rounds_intermediate_results():
    found = told("work", problem={"softmax": [1, 2]}, rounded=1, results="output")
    assert (found["rounded"], found["values"]["output"]) == (1, pytest.approx([0.3, 0.7]))


def test_work_judges_claims():
    found = told("work", problem={"softmax": [1, 2]}, claims={"output": [0.27, 0.73]})
    assert found["right"] is True
    assert told("work", problem={"softmax": [1, 2]}, claims={"output": [0.5, 0.5]})["right"] is False


def test_cost_finds_the_batch_that_fits():
    assert told("cost", spec="bert-base t=128", train=True, fit="24GB")["fit"]["batch"] > 1


def test_check_solution_judges_text_and_files():
    found = told("check_solution", text="The projections have 3 × 512 × 512 = 786,433 weights.")
    assert found["counts"]["wrong"] == 1
    by_file = told("check_solution", folders=[ROOT / "examples"], file="solution.md")
    assert by_file["counts"] == printed("check", "examples/solution.md")["counts"]


def test_presets_lists_fields_with_their_choices():
    fields = {one["field"]: one for one in told("presets", fields=True)["fields"]}
    assert fields["norm"]["choices"] == ["post", "pre"]


def test_a_preset_may_have_its_published_name():
    assert told("count", spec="google-bert/bert-base-uncased")["total"] == 109_482_240


def test_explain_takes_words_and_ids():
    cell = {"t": 0, "d_model": 1}
    asked = {"spec": "layer d_model=4 heads=2", "tensor": "layers.0.out", "cell": cell}
    assert told("explain", **asked, text="a river bank")["cell"] == {"batch": 0, **cell}
    assert told("explain", spec="bert-tiny vocab=50", tensor="layers.0.out", cell=cell, tokens=[5, 9])["cell"] == {
        "batch": 0,
        **cell,
    }


BAD = [
    ("ask", {}, "'expression' is missing: give text, or a list of texts (1 to 20)."),
    ("ask", {"expression": 7}, "expression=7 is not allowed: expression must be text, or a list of texts (1 to 20)."),
    ("ask", {"expression": []}, "expression=[] is not allowed: expression must be text, or a list of texts (1 to 20)."),
    ("ask", {"expresion": "params"}, "unknown argument 'expresion'. Did you mean 'expression'? ask takes: expression, spec."),
    (
        "ask",
        {"expression": "params", "spec": "bert-bsae"},
        "unknown preset 'bert-bsae'. Did you mean 'bert-base'? The tool 'presets'",
    ),
    (
        "ask",
        {"expression": "params", "spec": "bert-base layer=3"},
        "unknown field 'layer'. Did you mean 'layers'? The tool 'presets'",
    ),
    ("ask", {"expression": "params", "spec": "d_model=3"}, "'d_model=3' needs a preset before it: write 'layer d_model=3'"),
    ("ask", {"expression": "params", "spec": "bert-base 12"}, "'12' is not a field: after 'bert-base' write field=value"),
    ("ask", {"expression": "params", "spec": "bert-base t=0"}, "t=0 is not allowed: t must be a whole number from 1"),
    ("ask", {"expression": "params", "spec": "bert-base t=1 t=2"}, "t is given twice, as 1 and as 2: give it once."),
    (
        "ask",
        {"expression": "tokens", "spec": "vit-b16 image=224,384"},
        "image=224,384 may be one number or a list: write image=224384",
    ),
    ("ask", {"expression": "x" * 2001}, "expression is too long: at most 2,000 characters are allowed."),
    ("check", {}, "'relation' is missing: give text, or a list of texts (1 to 20)."),
    (
        "check",
        {"relation": ["params = 3"], "claim": "3"},
        "'claim' works with one expression only: write several relations in full",
    ),
    ("count", {}, "'spec' is missing: give text. The model: a preset, then field=value"),
    ("count", {"spec": " "}, "no model is given: name a preset and optionally fields, as in 'bert-base layers=8 t=512'."),
    ("count", {"spec": ["bert-base"]}, "spec=['bert-base'] is not allowed: spec must be text."),
    ("count", {"spec": "bert-base", "only": "fnn"}, "unknown part 'fnn'. Did you mean 'ffn'?"),
    ("count", {"spec": "bert-base heads=7"}, "heads=7 does not divide d_model=768, and d_k is not given"),
    ("count", {"spec": "bert-base", "rows": 0}, "rows=0 is not allowed: rows must be a whole number (1 to 1,000)."),
    ("count", {"spec": "https://x.y/config.json"}, "https://x.y/config.json is a URL, and nothing is downloaded"),
    ("shapes", {"spec": "bert-base", "names": "atention"}, "no tensor has atention in its name. Did you mean 'attention'?"),
    ("shapes", {"spec": "bert-base", "head": 99}, "head=99 does not exist: the heads are 0 to 11."),
    ("shapes", {"spec": "bert-base", "columns": "maybe"}, "columns=maybe is not allowed: columns must be true or false."),
    ("cost", {"spec": "bert-base", "dtype": "int9"}, "dtype=int9 is not allowed: dtype must be one of fp64, fp32, bf16, fp16."),
    ("cost", {"spec": "bert-base", "fit": "lots"}, "'lots' is not an amount of memory: write 24GB"),
    ("cost", {"spec": "bert-base t=600"}, "t=600 is too long: the position table has positions=512."),
    ("explain", {"spec": "layer", "tensor": "x"}, "'cell' is missing: give an object. The index on each axis, from 0:"),
    ("explain", {"spec": "layer", "tensor": "x", "cell": {"t": "a"}}, "cell={'t': 'a'} is not allowed: cell must be an object."),
    ("explain", {"spec": "layer", "tensor": "layers.0.otu", "cell": {}}, "there is no 'layers.0.otu' in this run. Did you mean"),
    ("explain", {"spec": "layer", "tensor": "layers.0.out", "cell": {"self": 1}}, "'self' is not an axis of layers.0.out"),
    (
        "explain",
        {"spec": "bert-large", "tensor": "x", "cell": {}},
        "this spec has 335,141,888 parameters; at most 50,000,000 are",
    ),
    ("work", {"problem": {}}, "the problem: the problem is empty: give numbers"),
    ("work", {"problem": [1]}, "problem=[1] is not allowed: problem must be an object, or text."),
    ("work", {"problem": "{1"}, "the problem"),
    ("work", {"problem": {"kind": "sotfmax", "x": [1]}}, "the problem: kind 'sotfmax' is not known: one of attention"),
    (
        "work",
        {"problem": {"softmax": [1, 2]}, "results": "wieghts"},
        "the problem: 'wieghts' is not a result of this problem. Did you mean",
    ),
    (
        "work",
        {"problem": {"softmax": [1, 2]}, "digits": 99},
        "digits=99 is not allowed: digits must be a whole number (0 to 15).",
    ),
    ("check_solution", {}, "give the solution either as 'text' or as 'file'."),
    ("check_solution", {"text": "x" * 200_001}, "text is too long: at most 200,000 characters are allowed."),
    ("presets", {"name": "bert"}, "unknown preset 'bert'. Did you mean 'bert-tiny'?"),
    ("presets", {"fields": "perhaps"}, "fields=perhaps is not allowed: fields must be true or false."),
    ("prestes", {}, "unknown tool 'prestes'. Did you mean 'presets'? Tools: ask, check, count"),
]


@pytest.mark.parametrize(("tool", "arguments", "line"), BAD, ids=[f"{tool}-{place}" for place, (tool, *_) in enumerate(BAD)])
def test_a_refusal_is_one_line_that_says_what_to_try(tool, arguments, line, capsys):
    (result,) = through_client((tool, arguments))
    assert result.is_error
    (block,) = result.content
    assert block.text.startswith(line)
    assert "\n" not in block.text and len(block.text) < 500
    assert not [word for word in ("Traceback", "Error(", "'glassformer ") if word in block.text.partition("glassformer mcp")[0]]
    assert capsys.readouterr() == ("", "")


def test_every_tool_is_in_the_table_of_refusals():
    assert {tool for tool, *_ in BAD} >= set(TOOLS)


PATHS = [
    ("count", "spec"),
    ("explain", "spec"),
    ("work", "problem"),
    ("check_solution", "file"),
    ("ask", "spec"),
]


@pytest.mark.parametrize(("tool", "argument"), PATHS)
@pytest.mark.parametrize(
    "name", ["{root}/outside.toml", "../outside.toml", "link.toml", "inner/../../outside.toml", "/etc/passwd", "~/x.toml"]
)
def test_a_path_outside_the_folders_is_refused_whether_it_exists_or_not(tmp_path, tool, argument, name):
    folder = tmp_path / "course"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "outside.toml").write_text('base = "bert-base"\nsoftmax = [1, 2]\n')
    (folder / "link.toml").symlink_to(tmp_path / "outside.toml")
    others = {"ask": {"expression": "params"}, "explain": {"tensor": "x", "cell": {}}}.get(tool, {})
    given = name.replace("{root}", str(tmp_path))
    asked = others | {argument: given}
    assert "is not in the folders of this server (" in refused(tool, folders=[folder], **asked)
    assert "cannot be read: this server was started without folders." in refused(tool, **asked)


def test_files_below_a_folder_are_read_by_relative_and_absolute_path(tmp_path):
    (tmp_path / "small.toml").write_text('base = "bert-base"\nlayers = 2\n')
    here = told("count", folders=[tmp_path], spec="small.toml layers=1")
    assert here["total"] == told("count", spec="bert-base layers=1")["total"]
    assert (
        told("count", folders=[tmp_path], spec=f"{tmp_path}/small.toml")["total"]
        == told("count", spec="bert-base layers=2")["total"]
    )


@pytest.mark.parametrize("spec", ["layer d_model = 64, heads = 4,", "layer d_model=64,  heads=4", " layer  d_model= 64 heads=4 "])
def test_a_spec_may_contain_spaces_and_commas(spec):
    assert told("count", spec=spec)["label"] == "layer d_model=64 heads=4"


def test_a_config_is_read_as_the_class_that_is_named(tmp_path):
    config = {
        "model_type": "bert",
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "vocab_size": 9,
        "max_position_embeddings": 4,
        "type_vocab_size": 2,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    bare = told("count", folders=[tmp_path], spec="config.json as=BertModel")["total"]
    assert told("count", folders=[tmp_path], spec="config.json as=BertForMaskedLM")["total"] != bare
