"""The descriptions for assistants are complete, short, and consistent with the quantities."""

import json
from pathlib import Path

import pytest
from assistant import in_own_loop, in_this_process
from mcp import Client

from glassformer.algebra.parts import PARTS
from glassformer.answers.quantities.registry import MEANINGS
from glassformer.configs.presets import known_preset
from glassformer.mcp.server import listed, server
from glassformer.mcp.teaching import description, folded
from glassformer.spec import field_rules

TOOLS = {tool.name: tool for tool in listed()}
SNAPSHOT = Path(__file__).with_name("schemas.json")


def test_the_schemas_are_those_of_the_snapshot():
    found = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed()]
    assert found == json.loads(SNAPSHOT.read_text(encoding="utf-8")), "run `python tests/mcp/schemas.py` and read the difference"


def test_a_client_lists_the_nine_tools_of_the_server():
    async def main():
        async with Client(server(in_this_process())) as client:
            return await client.list_tools()

    found = in_own_loop(main).tools
    expected = ["ask", "check", "count", "shapes", "cost", "explain", "work", "check_solution", "presets"]
    assert [tool.name for tool in found] == expected
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in found)


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_has_a_type_and_a_description(name):
    schema = TOOLS[name].input_schema
    assert schema["additionalProperties"] is False
    for rule in schema["properties"].values():
        assert rule["description"].endswith((".", "…"))
        assert "type" in rule or "anyOf" in rule


@pytest.mark.parametrize("name", TOOLS)
def test_no_placeholder_is_left_in_a_description(name):
    text = json.dumps([TOOLS[name].description, TOOLS[name].input_schema], ensure_ascii=False)
    assert not [one for one in ("{quantities}", "{parts}", "{language}", "{fields}", "{spec}", "{problem}") if one in text]


def test_descriptions_have_a_text_for_each_argument_and_no_other():
    for name, tool in TOOLS.items():
        assert set(description(name)) - {"title", "about"} == set(tool.input_schema["properties"])


@pytest.mark.parametrize("name", ["ask", "check"])
def test_ask_and_check_teach_every_quantity_and_part(name):
    text = TOOLS[name].description
    assert [one for one in MEANINGS if one not in text] == []
    assert [one for one in PARTS if one not in text] == []


def test_the_fields_and_presets_that_are_named_exist():
    fields, _, presets = description("ask")["about"].partition("\nFields: ")[2].partition(" Presets: ")
    words = fields.partition(". ")[0].replace("(", " ( ").replace(")", " ) ").split()
    depth, named = 0, []
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        named += [word] if depth == 0 and word.isidentifier() else []
    assert len(named) > 20
    assert [name for name in named if name not in field_rules()] == []
    names = presets.partition(" …")[0].split()
    assert len(names) > 15
    assert [name for name in names if known_preset(name) != name] == []


def test_all_descriptions_together_fit_into_a_few_thousand_tokens():
    assert sum(len(json.dumps([tool.description, tool.input_schema], ensure_ascii=False)) for tool in TOOLS.values()) < 24_000


def test_a_line_that_starts_with_spaces_continues_the_previous_one():
    assert folded("\none\n  two\n- three\n  four\n") == "one two\n- three four"
