"""The command `mcp`: what it says where it cannot start."""

import sys

import pytest
from command_line import glassformer


@pytest.mark.parametrize("missing", ["mcp", "mcp_types", "anyio", "pydantic"])
def test_without_the_package_one_line_says_how_to_install_it(monkeypatch, missing):
    for name in [name for name in sys.modules if name.startswith("glassformer.mcp") or name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    done = glassformer("mcp")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == f"glassformer: the MCP server needs {missing}, which is not installed: pip install 'glassformer[mcp]'.\n"
    )


def test_a_missing_folder_is_refused_before_the_server_starts(tmp_path):
    done = glassformer("mcp", "--folder", tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("is not a folder: give an existing one, or omit the option.\n")


def test_the_help_has_the_line_that_registers_the_server():
    assert '{"mcpServers": {"glassformer": {"command": "glassformer", "args": ["mcp"]}}}' in glassformer("mcp", "--help").stdout
