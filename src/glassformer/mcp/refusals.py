"""Refusals for assistants: where a line names a command, the tool of the same name is meant."""

from __future__ import annotations

import re

QUOTED = re.compile(r"(^|[.?!] )?'glassformer (\w+)( --fields)?'")
TO_RUN = re.compile(r"glassformer (ask|check) '([^']*)'(?: ([\w./-]+(?: \w+=\S+)*))?")


def reworded(line: str) -> str:
    """`'glassformer presets' lists them` as `The tool 'presets' lists them`, at the start of a sentence."""

    def tool(found: re.Match[str]) -> str:
        start = found[1]
        return f"{start or ''}{'The' if start is not None else 'the'} tool '{found[2]}'{' with fields=true' if found[3] else ''}"

    def call(found: re.Match[str]) -> str:
        return f"{found[1]} '{found[2]}'" + (f" with spec '{found[3]}'" if found[3] else "")

    line = line.replace("'glassformer ask --quantities' lists them", "the description of the tool 'ask' lists them")
    return TO_RUN.sub(call, QUOTED.sub(tool, line)).replace("--claim", "'claim'")
