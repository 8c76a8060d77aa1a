"""The reference pages of the site: Python names from their docstrings, commands from their help, presets and fields."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click

import glassformer

INTRO = """# Python

`import glassformer as gf` gives every name below. Names are loaded on first use, so the import itself takes milliseconds.
What the functions return prints as a table, shows itself in notebooks, and has the attributes listed under
[results](#results).
"""


def public() -> dict[str, Any]:
    """Every public name of the package with what it stands for."""
    where = glassformer._WHERE
    found = {name: getattr(import_module(where[name]), name) for name in sorted(where)}
    inside = {f"{name}.{key}": getattr(one, key) for name, one in found.items() if inspect.ismodule(one) for key in one.__all__}
    return {name: one for name, one in found.items() if not inspect.ismodule(one)} | inside


def python_page() -> str:
    """Functions, classes, and the classes of what the functions return."""
    names = public()
    functions = {name: found for name, found in names.items() if not inspect.isclass(found)}
    classes = {name: found for name, found in names.items() if inspect.isclass(found)}
    returned = {cls.__name__: cls for found in functions.values() for cls in results(found) if cls not in classes.values()}
    sections = [
        "## Functions\n",
        *(directive("function", f"glassformer.{name}", found) for name, found in functions.items()),
        "## Classes\n",
        *(class_block(f"glassformer.{name}", found) for name, found in classes.items()),
        "## Results\n",
        *(class_block(name, cls) for name, cls in sorted(returned.items())),
    ]
    return "\n".join([INTRO, *sections])


def results(function: Any) -> Iterator[type]:
    """The package's own classes that a function's return annotation names."""
    module = inspect.getmodule(function)
    tree = ast.parse(inspect.getsource(module))
    imported = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassformer")
        for alias in node.names
    }
    for word in re.findall(r"\w+", str(function.__annotations__.get("return", ""))):
        found = getattr(import_module(imported[word]), word) if word in imported else getattr(module, word, None)
        if inspect.isclass(found) and found.__module__.startswith("glassformer"):
            yield found


def class_block(name: str, cls: type) -> str:
    """A class with its public methods and properties that have docstrings."""
    own = [base for base in cls.__mro__ if base.__module__.startswith("glassformer")]
    members = {key: value for base in reversed(own) for key, value in vars(base).items() if not key.startswith("_")}
    inner = []
    for key, value in sorted(members.items()):
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if inspect.isfunction(plain) and plain.__doc__:
            inner.append(directive("method", key, plain))
        elif (isinstance(value, property) or hasattr(value, "func")) and value.__doc__:
            inner.append(directive("property", key, value))
    return directive("class", name, cls, "\n".join(inner))


def directive(kind: str, name: str, found: Any, inner: str = "") -> str:
    """One entry of the Python domain, its docstring read as Markdown; the fence is longer than any inside it."""
    signature = "" if kind == "property" or _wide(found) else _signature(found, drop_self=kind == "method")
    fence = "`" * (4 if kind in ("method", "property") else 5)
    body = inspect.getdoc(found) or ""
    return f"{fence}{{py:{kind}}} {name}{signature}\n{body}\n\n{inner}\n{fence}\n"


def _wide(found: Any) -> bool:
    """Whether a signature would only repeat a table: EncoderSpec has a page for its fields."""
    return found is glassformer.EncoderSpec


def _signature(found: Any, *, drop_self: bool) -> str:
    signature = inspect.signature(found)
    if drop_self and "self" in signature.parameters:
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    return re.sub(r"'([^']*)'(?=[,)\s=]|$)", _unquoted, str(signature))


def _unquoted(text: re.Match[str]) -> str:
    """An annotation without the quotes that `from __future__ import annotations` gives it; a default stays a string."""
    before = text.string[: text.start()]
    return text[1] if before.endswith((": ", "-> ")) else text[0]


def commands_page() -> str:
    """Every command's own help text."""
    from glassformer.cli.main import glassformer as group

    blocks = ["# Commands\n\nWhat `glassformer COMMAND --help` prints.\n"]
    top = click.Context(group, info_name="glassformer")
    for path, command, context in _commands(group, top):
        blocks.append(f"## {path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
    return "\n".join(blocks)


def _commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inside = click.Context(command, parent=context, info_name=name, terminal_width=100, max_content_width=100)
        yield inside.command_path.removeprefix("glassformer "), command, inside
        if isinstance(command, click.Group):
            yield from _commands(command, inside)


def fields_page() -> str:
    """The presets, and the fields of a spec with their defaults and choices."""
    from glassformer.spec import defaults, field_docs, field_rules

    presets = [f"| `{name}` | {_cell(doc)} |" for name, doc in glassformer.presets().items()]
    rules, start = field_rules(), defaults()
    fields = [
        f"| `{name}` | `{start[name]}` | {_cell(doc)}{_choices(rules[name].choices)} |" for name, doc in field_docs().items()
    ]
    return "\n".join(
        [
            "# Presets and fields\n\nA spec is a preset or a file, then `field=value`: `bert-base layers=8 heads=8`.\n",
            "## Presets\n\n| preset | what it is |\n|:---|:---|",
            *presets,
            "\n## Fields\n\n| field | default | what it is |\n|:---|:---|:---|",
            *fields,
            "",
        ]
    )


def _choices(choices: tuple[str, ...]) -> str:
    return f": {', '.join(f'`{one}`' for one in choices)}" if choices else ""


def _cell(text: str) -> str:
    return re.sub(r"([|<>*_`$])", r"\\\1", text)
