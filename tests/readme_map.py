"""The maps of the package, generated from first docstring lines: rooms in README.md, every module in docs/map.md.

`python tests/readme_map.py` rewrites both.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "glassformer"
MARKER = "\n<!-- map -->\n```text\n"

# The order in which a newcomer reads the rooms; anything else follows by name.
ROOMS = (
    "files",
    "spec",
    "configs",
    "checkpoints",
    "expressions",
    "program",
    "algebra",
    "numbers",
    "answers",
    "model",
    "training",
    "encoding",
    "insight",
    "show",
    "api",
    "lab",
    "mcp",
    "cli",
)


def first_line(module: Path) -> str:
    """The first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def room_map(house: Path = HOUSE) -> list[str]:
    """`room/  first docstring line` for each room, in reading order."""
    return _lines(house, _rooms(house))


def house_map(house: Path = HOUSE) -> list[str]:
    """`path  first docstring line` for each room and each module in it; a package inside a room is one line."""
    entries = [entry for room in _rooms(house) for entry in (room, *_inside(room))]
    return _lines(house, [*entries, *(module for module in sorted(house.glob("*.py")) if module.stem != "__init__")])


def map_in(markdown: str) -> list[str]:
    """The lines of the fenced block that follows the comment line `<!-- map -->`."""
    return _around(markdown)[1].splitlines()


def with_map(markdown: str, lines: list[str]) -> str:
    """The page with another map in it."""
    before, _, after = _around(markdown)
    return before + "\n".join(lines) + after


def _around(markdown: str) -> tuple[str, str, str]:
    before, marker, rest = markdown.partition(MARKER)
    shown, fence, after = rest.partition("\n```\n")
    if not marker or not fence:
        raise ValueError("no fenced block follows a line '<!-- map -->'")
    return before + marker, shown, fence + after


def _lines(house: Path, entries: list[Path]) -> list[str]:
    names = {entry: entry.relative_to(house).as_posix() + ("/" if entry.is_dir() else "") for entry in entries}
    width = max(map(len, names.values()), default=0)
    return [f"{name:{width}}  {first_line(entry / '__init__.py' if entry.is_dir() else entry)}" for entry, name in names.items()]


def _rooms(house: Path) -> list[Path]:
    found = [path.parent for path in house.glob("*/__init__.py")]
    order = {name: place for place, name in enumerate(ROOMS)}
    return sorted(found, key=lambda room: (order.get(room.name, len(order)), room.name))


def _inside(room: Path) -> list[Path]:
    packages = [path.parent for path in room.glob("*/__init__.py")]
    return sorted([*packages, *(module for module in room.glob("*.py") if module.stem != "__init__")])


MAPS = {ROOT / "README.md": room_map, ROOT / "docs" / "map.md": house_map}

if __name__ == "__main__":
    for page, drawn in MAPS.items():
        page.write_text(with_map(page.read_text(encoding="utf-8"), drawn()), encoding="utf-8")
