"""The command `mcp`: an MCP server for assistants, over standard input and output."""

from __future__ import annotations

import click

from glassformer.errors import GlassformerError


@click.command()
@click.option(
    "--folder", "folders", multiple=True, metavar="PATH", help="Allow tools to read files below this folder; can be repeated."
)
def mcp(folders: tuple[str, ...]) -> None:
    """Serve the commands as tools for an assistant (Model Context Protocol over standard input and output).

    The assistant starts the server. Register it with this line; docs/assistants.md has examples.

    \b
    {"mcpServers": {"glassformer": {"command": "glassformer", "args": ["mcp"]}}}
    {"mcpServers": {"glassformer": {"command": "glassformer", "args": ["mcp", "--folder", "course"]}}}
    """
    try:
        import anyio

        from glassformer.mcp.folders import Folders
        from glassformer.mcp.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("anyio", "mcp", "mcp_types", "pydantic"):
            raise
        raise GlassformerError(
            f"the MCP server needs {error.name.partition('.')[0]}, which is not installed: pip install 'glassformer[mcp]'."
        ) from None
    anyio.run(serve, Folders.of(folders))
