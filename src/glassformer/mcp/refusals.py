"""Rewrites error messages for assistants: names of commands become names of tools."""

from __future__ import annotations

import re

QUOTED = re.compile(r"(^|[.?!] )?'glassformer (\w+)( --fields)?'")
TO_RUN = re.compile(r"glassformer (ask|check) '([^']*)'(?: ([\w./-]+(?: \w+=\S+)*))?")


def reworded(line: str) -> str:
    """Return a message with `'glassformer presets' lists them` as `The tool 'presets' lists them`."""

    def tool(found: re.Match[str]) -> str:
        start = found[1]
        return f"{start or ''}{'The' if start is not None else 'the'} tool '{found[2]}'{' with fields=true' if found[3] else ''}"

    def call(found: re.Match[str]) -> str:
        return f"{found[1]} '{found[2]}'" + (f" with spec '{found[3]}'" if found[3] else "")

    line = line.replace("'glassformer ask --quantities' lists them", "the description of the tool 'ask' lists them")
    return TO_RUN.sub(call, QUOTED.sub(tool, line)).replace("--claim", "'claim'")
