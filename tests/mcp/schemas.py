"""The schemas that `tools/list` gives, kept in schemas.json. `python tests/mcp/schemas.py` renews them."""

import json
from pathlib import Path

from glassformer.mcp.server import listed

SNAPSHOT = Path(__file__).with_name("schemas.json")


def schemas():
    return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed()]


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(schemas(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
