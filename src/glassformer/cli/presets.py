"""The presets and completion commands."""

from __future__ import annotations

import sys
from typing import Any

import click

import glassformer as gf
from glassformer.cli.options import to_json
from glassformer.configs.presets import known_preset, preset_doc, unknown_preset
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.spec import ALL_BIASES
from glassformer.spec.fields import field_text


@click.command()
@click.argument("name", required=False)
@click.option("--fields", is_flag=True, help="List the fields of a spec, with their docs, choices and defaults.")
@click.option("--decoders", is_flag=True, help="List decoders and encoder-decoders; with --fields, the fields of decoders only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def presets(name: str | None, fields: bool, decoders: bool, as_json: bool) -> None:
    """List the presets, show one, or list the fields of a spec with --fields.

    \b
    glassformer presets
    glassformer presets bert-base
    glassformer presets --fields
    glassformer presets --decoders
    """
    from glassformer.show import Column, Table
    from glassformer.show.terminal import show_on_terminal

    if name is not None:
        if known_preset(name) is None:
            raise unknown_preset(name)
        values = gf.spec(name).to_dict()
        document: object = values
        rows = [[field, str(value)] for field, value in values.items()]
        table = Table(f"{name}: {preset_doc(name)}", [Column("field"), Column("value")], rows)
    elif fields:
        document = known = gf.fields(decoders=decoders)
        rows = [
            [one["field"], _default(one["default"]), one["doc"] + (f" [{', '.join(one['choices'])}]" if one["choices"] else "")]
            for one in known
        ]
        table = Table("", [Column("field"), Column("default"), Column("what it is")], rows)
    else:
        document = listed = gf.presets(decoders=decoders)
        table = Table("", [Column("preset"), Column("what it is")], [[known, doc] for known, doc in listed.items()])
    if as_json:
        sys.stdout.write(to_json(document) + "\n")
    else:
        show_on_terminal(table)


def _default(value: Any) -> str:
    return "all" if value == ALL_BIASES else field_text(value)


@click.command()
@click.argument("shell")
def completion(shell: str) -> None:
    """Print the script that completes commands, presets and fields in your shell.

    \b
    eval "$(glassformer completion bash)"     in ~/.bashrc
    eval "$(glassformer completion zsh)"      in ~/.zshrc
    glassformer completion fish | source      in config.fish
    """
    from click.shell_completion import get_completion_class

    from glassformer.cli.main import glassformer

    found = get_completion_class(shell)
    if found is None:
        near = nearest(shell, ("bash", "zsh", "fish"))
        raise GlassformerError(f"no completion for the shell '{shown(shell)}': choose bash, zsh or fish.{near}")
    sys.stdout.write(found(glassformer, {}, "glassformer", "_GLASSFORMER_COMPLETE").source() + "\n")
