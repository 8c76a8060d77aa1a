"""The README's map of the house, made from the first docstring line of each module. `python tests/readme_map.py` prints it."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "glassformer"

# The order in which a newcomer reads the rooms; anything else follows by name.
READING_ORDER = (
    "spec",
    "expressions",
    "program",
    "algebra",
    "numbers",
    "answers",
    "model",
    "training",
    "show",
    "lab",
    "mcp",
    "cli",
)


def first_line(module: Path) -> str:
    """The first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def house_map(house: Path = HOUSE) -> list[str]:
    """`path  first docstring line` for each room and each module in it; a package inside a room is one line."""
    entries = [entry for room in _rooms(house) for entry in (room, *_inside(room))]
    entries += [module for module in sorted(house.glob("*.py")) if module.stem != "__init__"]
    names = {entry: entry.relative_to(house).as_posix() + ("/" if entry.is_dir() else "") for entry in entries}
    width = max(map(len, names.values()), default=0)
    return [f"{name:{width}}  {first_line(entry / '__init__.py' if entry.is_dir() else entry)}" for entry, name in names.items()]


def map_in(markdown: str) -> list[str]:
    """The lines of the fenced block that follows the comment line `<!-- map -->`."""
    _, marker, rest = markdown.partition("\n<!-- map -->\n")
    if not marker or not rest.lstrip().startswith("```"):
        raise ValueError("no fenced block follows a line '<!-- map -->'")
    return rest.lstrip().split("```")[1].splitlines()[1:]


def _rooms(house: Path) -> list[Path]:
    found = [path.parent for path in house.glob("*/__init__.py")]
    order = {name: place for place, name in enumerate(READING_ORDER)}
    return sorted(found, key=lambda room: (order.get(room.name, len(order)), room.name))


def _inside(room: Path) -> list[Path]:
    packages = [path.parent for path in room.glob("*/__init__.py")]
    return sorted([*packages, *(module for module in room.glob("*.py") if module.stem != "__init__")])


if __name__ == "__main__":
    sys.stdout.write("\n".join(house_map()) + "\n")
