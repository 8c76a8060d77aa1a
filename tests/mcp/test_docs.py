"""The examples of docs/assistants.md: each call gives the result that is shown below it, of which only a part may be shown."""

import json
import re
from pathlib import Path

import pytest
from assistant import through_client

PAGE = (Path(__file__).parents[2] / "docs" / "assistants.md").read_text(encoding="utf-8")
REGISTERED, *BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)]
EXAMPLES = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))


def shows(part, whole):
    """Whether the shown result is a part of the actual one: some keys of an object, all entries of a list."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and shows(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(shows, part, whole))
    return part == whole


@pytest.mark.parametrize(("call", "shown"), EXAMPLES, ids=[str(place) for place in range(len(EXAMPLES))])
def test_a_call_gives_what_the_page_shows(call, shown):
    (result,) = through_client((call["tool"], call["arguments"]))
    found = {"error": result.content[0].text} if result.is_error else result.structured_content
    assert shows(shown, found), found


def test_a_wrong_result_on_the_page_is_found():
    assert shows({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}], "d": 4})
    assert not shows({"a": [1]}, {"a": [1, 2]})
    assert not shows({"a": 1}, {"b": 1})


def test_the_page_registers_the_command_and_names_every_tool():
    from glassformer.mcp.tools import TOOLS

    assert REGISTERED == {"mcpServers": {"glassformer": {"command": "glassformer", "args": ["mcp"]}}}
    assert [name for name in TOOLS if f"`{name}`" not in PAGE] == []
