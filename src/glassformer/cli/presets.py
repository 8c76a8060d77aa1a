"""What can be named: presets and fields; and the shell's completion script."""

from __future__ import annotations

import sys

import click

from glassformer.cli.options import to_json
from glassformer.spec import ALL_BIASES, GlassformerError, defaults, field_docs, field_rules, nearest, shown
from glassformer.spec.fields import field_text
from glassformer.spec.presets import preset, preset_doc, preset_names


@click.command()
@click.argument("name", required=False)
@click.option("--fields", is_flag=True, help="The fields of a spec instead, with their docs, choices and defaults.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def presets(name: str | None, fields: bool, as_json: bool) -> None:
    """What can be named: presets, and with --fields what can be changed in them.

    \b
    glassformer presets
    glassformer presets bert-base
    glassformer presets --fields
    """
    from glassformer.show import Column, Table
    from glassformer.show.terminal import show_on_terminal

    if name is not None:
        document: object = preset(name).to_dict()
        table = Table(
            f"{name}: {preset_doc(name)}",
            [Column("field"), Column("value")],
            [[k, str(v)] for k, v in preset(name).to_dict().items()],
        )
    elif fields:
        rules = field_rules()
        document = [
            {"field": field, "doc": doc, "choices": list(rules[field].choices), "default": defaults()[field]}
            for field, doc in field_docs().items()
        ]
        rows = [
            [field, _default(field), doc + (f" [{', '.join(rules[field].choices)}]" if rules[field].choices else "")]
            for field, doc in field_docs().items()
        ]
        table = Table("", [Column("field"), Column("default"), Column("what it is")], rows)
    else:
        document = {known: preset_doc(known) for known in preset_names()}
        table = Table("", [Column("preset"), Column("what it is")], [[known, preset_doc(known)] for known in preset_names()])
    if as_json:
        sys.stdout.write(to_json(document) + "\n")
    else:
        show_on_terminal(table)


def _default(field: str) -> str:
    value = defaults()[field]
    return "all" if value == ALL_BIASES else field_text(value)


@click.command()
@click.argument("shell")
def completion(shell: str) -> None:
    """The script that completes commands, presets and fields in your shell.

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
        raise GlassformerError(f"no completion for the shell '{shown(shell)}': bash, zsh or fish.{near}")
    sys.stdout.write(found(glassformer, {}, "glassformer", "_GLASSFORMER_COMPLETE").source() + "\n")
