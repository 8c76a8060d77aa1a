"""An MCP server: the commands as tools for assistants, over standard input and output."""
