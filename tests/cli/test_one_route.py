"""One route: every command calls the functions that Python users have, and prints their results."""

import ast
import inspect
import json
from importlib import import_module

import click
import pytest
from command_line import glassformer as command

import glassformer as gf
from glassformer.cli.main import COMMANDS

# Command -> the public functions whose results it prints.
ROUTES = {
    "count": {"count"},
    "bridge": {"bridge", "count"},
    "shapes": {"shapes"},
    "cost": {"cost", "decoding", "largest_batch", "longest_context"},
    "notation": {"notation"},
    "card": {"card"},
    "compare": {"compare"},
    "algebra": {"check_formula"},
    "ask": {"ask", "quantities"},
    "check": {"check", "check_solution", "check_worked"},
    "quiz list": {"quiz_sets"},
    "quiz make": {"make_quiz"},
    "quiz take": {"take_exam", "take_quiz"},
    "quiz grade": {"grade_quiz"},
    "work": {"work"},
    "presets": {"fields", "presets", "spec"},
    "explain": {"run"},
    "attention": {"run", "save_picture"},
    "attribute": {"attribute", "save_picture"},
    "saliency": {"saliency", "save_picture"},
    "ablate": {"ablate", "save_picture"},
    "lens": {"lens", "lens_over", "save_picture"},
    "patch": {"patch", "save_picture"},
    "probe": {"probe", "save_picture"},
    "experiment": {"experiment", "experiments", "save_picture"},
    "verify": {"download", "verify"},
    "encode": {"download", "encode", "encode_files"},
    "predict": {"download", "predict", "predict_files"},
    "generate": {"download", "generate"},
    "translate": {"download", "translate"},
    "evaluate": {"download", "evaluate"},
    "export": {"download", "export"},
    "data": {"data", "data_sets"},
    "train": {"download", "train"},
    "resume": {"resume"},
    "curves": {"curves", "save_picture"},
    "report": {"report"},
}
# What has no result: three servers, a walk through the other commands, and a script for the shell.
NO_RESULT = {"lab", "mcp", "serve", "tour", "completion"}


def commands():
    """`name -> command`, with the sub-commands of a group."""
    for name, (module, _) in COMMANDS.items():
        found = getattr(import_module(module), name)
        inner = found.commands if isinstance(found, click.Group) else None
        yield from ((f"{name} {key}", one) for key, one in inner.items()) if inner else [(name, found)]


def called(function, seen=frozenset()):
    """The attributes of `gf` that a function uses, itself or through other functions of the command line."""
    function = inspect.unwrap(function)
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    uses = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gf"
    }
    module = inspect.getmodule(function)
    others = [getattr(module, name) for name in names if inspect.isfunction(getattr(module, name, None))]
    for other in others:
        if other.__module__.startswith("glassformer.cli") and other not in seen:
            uses |= called(other, seen | {other})
    return uses


def callbacks(one):
    return [one.callback, *(parameter.callback for parameter in one.params if parameter.callback is not None)]


def test_every_command_is_listed():
    assert sorted(name for name, _ in commands()) == sorted([*ROUTES, *NO_RESULT])


@pytest.mark.parametrize("name", ROUTES)
def test_a_command_calls_the_functions_that_python_users_have(name):
    one = dict(commands())[name]
    assert set().union(*(called(function) for function in callbacks(one))) == ROUTES[name]


@pytest.mark.parametrize("name", sorted(set().union(*ROUTES.values())))
def test_the_functions_that_commands_call_are_public_and_documented(name):
    assert name in dir(gf)
    found = getattr(import_module(gf._WHERE[name]), name)
    assert found.__doc__ and found.__doc__.strip()


@pytest.mark.parametrize("name", sorted(NO_RESULT))
def test_a_command_without_a_result_calls_none_of_them(name):
    assert called(dict(commands())[name].callback) == set()


def test_a_call_is_found_through_other_functions():
    assert called(called_twice_removed) == {"count", "shapes"}


def called_twice_removed():
    if gf.count("bert-tiny"):
        _helper()


_helper = lambda: gf.shapes("bert-tiny")  # noqa: E731
_helper.__module__ = "glassformer.cli.made_up"


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("count bert-tiny layers=1 --without biases --json", lambda: gf.count("bert-tiny", layers=1, without="biases")),
        ("shapes bert-tiny head=mlm t=5 --head 0 --json", lambda: gf.shapes("bert-tiny head=mlm", t=5, head=0)),
        ("cost bert-tiny t=16 --train --json", lambda: gf.cost("bert-tiny", t=16, train=True)),
        ("bridge bert-tiny bert-tiny head=mlm --json", lambda: gf.bridge("bert-tiny", "bert-tiny head=mlm")),
        ("notation layer --json", lambda: gf.notation("layer")),
        ("ask params/2 bert-tiny --json", lambda: gf.ask("params/2", "bert-tiny")),
        ("experiment norm --json", lambda: gf.experiment("norm")),
        ("data digits --rows 1 --json", lambda: gf.data("digits", rows=1)),
    ],
)
def test_the_json_of_a_command_is_the_result_in_python(line, result):
    assert json.loads(command(*line.split()).stdout) == json.loads(json.dumps(result().to_dict()))


def test_lists_are_the_same_in_both():
    assert json.loads(command("presets", "--json").stdout) == gf.presets()
    assert json.loads(command("presets", "--fields", "--json").stdout) == json.loads(json.dumps(gf.fields()))
    assert json.loads(command("experiment", "--json").stdout) == gf.experiments()
    assert json.loads(command("data", "--json").stdout) == gf.data_sets()
    assert [one["set"] for one in json.loads(command("quiz", "list", "--json").stdout)] == [one.name for one in gf.quiz_sets()]
    fit = json.loads(command("cost", "bert-base", "t=128", "--train", "--fit", "8GB", "--json").stdout)["fit"]["batch"]
    assert fit == gf.largest_batch("bert-base", "8GB", t=128, train=True) > 0


def test_every_public_name_is_exported():
    assert sorted(gf.__all__) == sorted(set(dir(gf)) - {"__version__"})
