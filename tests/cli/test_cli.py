"""The command line as a person uses it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import glassformer

import glassformer as gf
from glassformer.cli.main import COMMANDS, _refuse_repeated_options
from glassformer.cli.options import OneOf


def answer(*words):
    done = glassformer(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


MUST_SHOW = [
    ("count layer d_model=64 heads=4 d_k=16 d_ff=120 --without output,biases,norms", 27_648),
    ("count layer d_model=64 heads=4 d_k=16 d_ff=120", 32_440),
    ("count bert-base vocab=40000 layers=8 heads=8 --without biases,norms,pooler", 87_737_856),
    ("count bert-base head=classify classes=5 --only head", 3_845),
    ("count attention d_model=10 heads=1 d_k=4 d_v=6 --without output,biases", 140),
    ("bridge bert-base bert-base head=pretrain", 624_188),
    ("cost bert-base batch=1 t=512", 48_318_971_904),
    ("cost vit-b16 classes=1000", 17_563_828_224),
]


@pytest.mark.parametrize(("line", "total"), MUST_SHOW)
def test_the_commands_of_the_readme(line, total):
    document = answer(*line.split())
    assert document["total"] == total
    assert {"total", "rows", "left_out"} <= set(document)


def test_count_ends_with_its_convention_and_its_largest_part():
    lines = glassformer("count", "bert-base").stdout.splitlines()
    assert lines[-1] == "largest part: ffn, 56,669,184, 51.8%"
    lines = glassformer(*"count bert-base --only attention,ffn --without biases".split()).stdout.splitlines()
    assert lines[-3:] == [
        "84,934,656 parameters: only attention, ffn, without biases, of 109,482,240 in all.",
        "left out: biases 82,944",
        "largest part: ffn, 56,623,104, 66.7%",
    ]


def test_a_head_without_biases_is_counted_without_them():
    document = answer(*"count bert-base biases=none head=classify classes=10".split())
    assert "bias" not in document["kinds"]
    assert document["parts"]["head"] == 768 * 10


@pytest.mark.parametrize("command", ["count", "shapes", "cost", "notation"])
@pytest.mark.parametrize("form", ["", "--markdown", "--latex", "--html", "--json"])
def test_every_form_of_every_answer(command, form):
    done = glassformer(command, "bert-tiny", *([form] if form else []))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) > 100


USER_MISTAKES = [
    ("count bert-bse", "glassformer: unknown preset 'bert-bse'. Did you mean 'bert-base'?"),
    ("count bert-base hads=8", "unknown field 'hads'. Did you mean 'heads'?"),
    ("count bert-base what=x", "unknown field 'what'."),
    ("count bert-base as_class=x", "unknown field 'as_class'."),
    ("count bert-base heads=7", "heads=7 does not divide d_model=768"),
    ("count bert-base layers=1000000000", "layers=1000000000 is not allowed"),
    ("count bert-base --without biasses", "unknown part 'biasses'. Did you mean 'biases'?"),
    ("count bert-base --layers 3", "no such option '--layers'. Fields are written after the spec, without dashes: layers=…"),
    ("count bert-base --d-model 3", "without dashes: d_model=…"),
    ("explain layer d_model=4", "no cell is given: name a model, then a tensor with the indices of a cell"),
    ("explain layer layers.0.out t=0 d_model=0 --seed -1", "Invalid value for '--seed': -1 is not in the range x>=0."),
    ("count", "no spec is given: name a preset or a file"),
    ("conut bert-base", "unknown command 'conut'. Did you mean 'count'?"),
    ("count bert-base --jsn", "No such option '--jsn'. Did you mean '--json'?"),
    ("train digits --precision fp9", "is not one of 'auto', 'fp32', 'bf16', 'fp8'. Did you mean 'fp8'?"),
    ("train digits --batchsize 3", "No such option '--batchsize'. Did you mean '--batch-size'?"),
    ("train digits --learning-rate 3", "No such option '--learning-rate'. Did you mean '--lr'?"),
    ("train digits lr=3", "unknown field 'lr'. It is an option of train; write it with dashes: --lr …"),
    ("train digits precison=bf16", "unknown field 'precison'. Did you mean '--precision'?"),
    (
        "train digits kernal=fused",
        "unknown field 'kernal'. 'glassformer presets --fields' lists the fields, 'glassformer train --h",
    ),
    ("train digits hedas=4", "unknown field 'hedas'. Did you mean 'heads'? 'glassformer presets --fields' lists the fields."),
    ("train digits rotary_base=3", "rotary_base=3.0 applies to rotary positions only: position=learned."),
    ("count bert-base --only head --only ffn", "--only is given twice, as head and as ffn: give it once."),
    ("count bert-base --only=head --only=head", "--only is given twice, as head and as head: give it once."),
    ("quiz make parameters --out a --out b", "--out is given twice, as a and as b: give it once."),
    ("count bert-base --without ,", "',' is not a part: write parts such as biases,norms, or leave it out."),
    ("- bert-base", "unknown command '-'. 'glassformer --help' lists them."),
    ("cost bert-base --optimizer adem", "is not one of 'adamw', 'sgd', 'none'. Did you mean 'adamw'?"),
    ("cost bert-base --dtype flot16", "is not known: one of fp64, fp32, bf16, fp16. Did you mean 'fp16'?"),
    ("completion bsh", "no completion for the shell 'bsh': choose bash, zsh or fish. Did you mean 'bash'?"),
    ("shapes bert-base --head x", "Invalid value for '--head'"),
    ("cost bert-base --fit lots", "'lots' is not an amount of memory"),
    ("cost bert-base --dtype fp8", "--dtype fp8 is not known: one of fp64, fp32, bf16, fp16."),
    ("bridge bert-base", "expected 2 specs, found 'bert-base'."),
    ("presets bert-bas", "Did you mean 'bert-base'?"),
    ("completion tcsh", "no completion for the shell 'tcsh'"),
    ("bridge bert-base what=3 bert-base", "unknown field 'what'."),
    ("bridge bert-base as_class=x bert-base", "unknown field 'as_class'."),
    ("explain layer text=3 layers.0.out t=0 d_model=0", "unknown field 'text'."),
    ("attention layer seed=3", "unknown field 'seed'."),
    ("experiment order seed=3", "unknown field 'seed'."),
    ("report bert-tiny what=3", "unknown field 'what'."),
    (f"count {'a' * 300}=1", "needs a spec before it: a preset or a file"),
    (f"explain {'a' * 300}=1 x y", "needs a spec before it: a preset or a file"),
    (f"curves {'a' * 300}", "File name too long."),
    ("attention encoder d_model=4 heads=2 image=8 patch=4 --text a", "this encoder reads images, not text. Leave the text out."),
    ("count\x1b[31m", "unknown command 'count?[31m'."),
]


@pytest.mark.parametrize(("line", "message"), USER_MISTAKES)
def test_a_users_mistake_is_one_line_and_exit_2(line, message):
    done = glassformer(*line.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("glassformer: ")


@pytest.mark.parametrize(
    "line", ["--help", "count --help", "bridge -h", "cost --help", "presets", "presets --fields", "completion bash", ""]
)
def test_the_help_has_examples(line):
    done = glassformer(*line.split())
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 5


def test_help_shows_examples():
    assert "glassformer count bert-base head=classify classes=5 --only head" in glassformer("count", "--help").stdout


OWN_PROCESS = """
count bert-tiny
count bert-bse
bridge bert-tiny bert-tiny head=mlm
shapes layer d_model=64 heads=2
cost bert-tiny --json
notation layer
algebra X^TX X=2x3
ask params bert-tiny
check params bert-tiny --claim 5
quiz grade docs/quiz-example.toml docs/quiz-answers.csv --seed 7
work examples/flying.toml
presets
explain layer layers.0.out t=0 d_model=0
attention layer d_model=16 --text a
experiment order
data topic
"""


@pytest.mark.parametrize("line", OWN_PROCESS.strip().splitlines())
def test_a_separate_process_prints_what_the_in_process_command_prints(line):
    """It imports what it needs, too, which in this process others may have done."""
    words, root = line.split(), Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-m", "glassformer", *words], capture_output=True, timeout=60, check=False, cwd=root)
    here = glassformer(*words, cwd=root)
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (here.returncode, here.stdout, here.stderr)


def test_a_closed_pipe_is_not_an_error():
    command = f"{sys.executable} -m glassformer notation bert-base | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("count bert-tiny > /dev/full", 2, "standard output cannot be written: No space left on device. Free some space"),
        ("check params bert-tiny --claim 5 > /dev/full", 2, "standard output cannot be written: No space left on device."),
        ("count bert-tiny >&-", 0, ""),
        ("encode nowhere - <&-", 2, "no such folder: nowhere."),
        ("zzz 2>&-", 2, ""),
    ],
)
def test_unreadable_and_unwritable_files_give_no_traceback(line, code, said, tmp_path):
    command = f"{sys.executable} -m glassformer {line}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == bool(said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("count bert-tiny --json --latex", "--json and --latex are both given: choose one."),
        ("quiz grade parameters a.csv --csv --html", "--csv and --html are both given: choose one."),
        ("completion", "Missing argument 'SHELL'. 'glassformer completion --help' shows the usage."),
        ("count bert-tiny --zzzz", "No such option '--zzzz'. 'glassformer count --help' lists the options."),
        ("work a b", "Got unexpected extra argument (b). 'glassformer work --help' shows the usage."),
        ("count - ", "Standard input is not read here: name a file."),
        (
            "report bert-tiny --out nowhere/r.html",
            "nowhere/r.html cannot be written: its folder does not exist. Create it first.",
        ),
        ("explain layer nothing", "there is no 'nothing' in this run. It has x, layers.0.attention.W_Q, "),
        ("curves loop", "loop cannot be read: Too many levels of symbolic links. Give the folder of a run."),
        ("count lost", "no such file or folder: lost. It is a broken link to gone."),
        ("data lost", "no such file or folder: lost. It is a broken link to gone."),
        ("data tabel.csv", "no such file or folder: tabel.csv. Did you mean 'table.csv'?"),
        ("quiz make parameters --out=", "--out is empty: give a name, or leave it out."),
        ("train digits --out=", "--out is empty: give a name, or leave it out."),
        (
            "check table.csv.md --claim 3",
            "table.csv.md is a worked solution with its own claims: omit --claim and the spec.",
        ),
        ("check empty.md", "empty.md is empty: there is nothing to check. Was it saved?"),
    ],
)
def test_a_users_mistake_has_a_way_out(line, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("empty.md", "table.csv", "table.csv.md"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("gone")
    done = glassformer(*line.split())
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_completion_offers_presets_and_fields():
    environment = {"_GLASSFORMER_COMPLETE": "bash_complete", "COMP_WORDS": "glassformer count bert-base hea", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", "from glassformer.cli import main; main()"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
        timeout=60,
        check=False,
    )
    assert "plain,heads=" in done.stdout


def test_the_tour_comes_to_its_end():
    command = [sys.executable, "-m", "glassformer", "tour"]  # as `make run` does, in a process of its own
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "109,482,240" in done.stdout
    assert "\nquatre-vingt-douze\n" in done.stdout
    assert "Tour finished in" in done.stdout
    report = re.search(r"Open the report in a browser: (.*)\n", done.stdout)[1]
    assert "test accuracy" in Path(report).read_text(encoding="utf-8")


def test_the_spec_may_come_before_the_expression():
    one = glassformer("ask", "params(W_O)", "bert-base", "layers=2").stdout
    assert glassformer("ask", "bert-base", "params(W_O)", "layers=2").stdout == one
    assert one.startswith("params(W_O) of bert-base layers=2: 1,179,648 parameters")


def test_an_expression_that_names_its_model_needs_no_spec():
    assert "params(W_O) @ bert-large: 25,165,824 parameters" in glassformer("ask", "params(W_O) @ bert-large").stdout
    assert glassformer("check", "params @ bert-base-uncased = 110M").stdout.startswith("right")
    lost = glassformer("ask", "params(W_O)")
    assert (lost.returncode, lost.stdout) == (2, "")
    assert "of which model? Add a spec, as in 'bert-base', or write params(W_O) @ bert-base" in lost.stderr


def test_a_claim_is_the_other_side_of_a_relation():
    one = glassformer("check", "params(W_O)", "bert-base", "layers=2", "--claim", "1,179,648")
    other = glassformer("check", "params(W_O) = 1,179,648", "bert-base", "layers=2")
    assert (one.returncode, other.returncode, other.stdout) == (0, 0, one.stdout)
    lost = glassformer("check", "params", "bert-base")
    assert (lost.returncode, lost.stdout) == (2, "")
    assert lost.stderr.startswith("glassformer: 'params' is not a claim: write a relation")


def test_sizes_with_several_values_print_a_table():
    done = glassformer("ask", "flops(attention, layer=0)", "bert-base", "t=128,256,512")
    assert [line.split()[-1] for line in done.stdout.splitlines()[3:6]] == ["654,311,424", "1,409,286,144", "3,221,225,472"]


def test_a_question_in_english_shows_what_it_was_read_as():
    done = glassformer("ask", "How many parameters does BERT-base have?")
    assert done.stdout.startswith("read as: params @ bert-base\n")
    assert "109,482,240" in done.stdout
    refused = glassformer("ask", "How many flowers does the garden of BERT have?")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "glassformer ask" in refused.stderr


def test_the_quantities_are_listed():
    listed = glassformer("ask", "--quantities").stdout
    assert "params: " in listed
    assert "options: layer, head, without, only, trained" in listed


def test_every_choice_of_every_command_names_the_nearest_word():
    from importlib import import_module

    def plain(command: click.Command, name: str) -> list[str]:
        below = [f for sub, inner in getattr(command, "commands", {}).items() for f in plain(inner, f"{name} {sub}")]
        choices = [param for param in command.params if isinstance(param.type, click.Choice)]
        return below + [f"{name} {param.name}" for param in choices if not isinstance(param.type, OneOf)]

    commands = {name: getattr(import_module(module), name) for name, (module, _) in COMMANDS.items()}
    assert [found for name, command in commands.items() for found in plain(command, name)] == []
    assert plain(click.Command("c", params=[click.Option(["--one"], type=click.Choice(["a"]))]), "c") == ["c one"]


def test_a_value_that_looks_like_an_option_is_not_one_given_twice():
    several, one = click.Option(["--text"], multiple=True), click.Option(["--out"])
    _refuse_repeated_options(
        click.Command("c", params=[several, one]), ["--text", "--out", "--out", "x", "--text", "a", "--", "--out", "y"]
    )
    with pytest.raises(gf.GlassformerError, match="--out is given twice, as x and as y: give it once"):
        _refuse_repeated_options(click.Command("c", params=[click.Option(["--out"])]), ["--out", "x", "a", "--out=y"])


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_lines_and_greek_letters_are_written_whatever_the_system_claims_to_know(encoding):
    command = [sys.executable, "-m", "glassformer", "notation", "layer"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, b"")
    gamma = b"\\u03b3" if encoding == "latin-1" else "γ".encode()
    assert gamma in done.stdout


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_the_exit_code_tells_where_the_line_cannot(where):
    command = f"{sys.executable} -m glassformer count nothing-here {where}"
    assert subprocess.run(["bash", "-c", command], timeout=60, check=False).returncode == 2
