"""requirements.lock: a hash for every file that may be installed at run time. `python tests/lock.py INDEX` renews it.

INDEX is the address of a package index (the simple API, as pip's --index-url). What is pinned is read from constraints.txt, and
what needs what from the packages installed here. Only wheels are listed, of all platforms: building from source runs code.
PyTorch is left out, since one version of it has different files for each kind of processor and graphics card, in indexes of
their own; extras that are not in constraints.txt are left out, too.
"""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
EXTRAS = ("export", "lab", "mcp", "notebook", "pdf", "plots", "text", "train")
LEFT_OUT = ("torch",)
WHEEL = re.compile(r'<a[^>]*href="[^"#]*#sha256=([0-9a-f]{64})"[^>]*>\s*([^<]+\.whl)\s*</a>')
HEAD = """# Every file that may be installed to run glassformer, with its hash; made by `python tests/lock.py`.
# pip install --require-hashes --only-binary :all: -r requirements.lock && pip install --no-deps glassformer
# Not here: torch, whose files differ by processor and graphics card; choose yours from its own index first.
"""


def pins(text):
    """Package -> version, as constraints.txt has them."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines) if version}


def wanted(pinned):
    """Everything that the package and its extras need, and what these need, as far as it is pinned."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    left = [Requirement(line) for line in [*project["dependencies"], *(one for name in EXTRAS for one in extras.get(name, []))]]
    found = set()
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        if name in found or name in LEFT_OUT or name not in pinned:
            continue
        found.add(name)
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            continue
        inner = [Requirement(line) for line in lines]
        asked = [{"extra": extra} for extra in ("", *requirement.extras)]
        left += [one for one in inner if one.marker is None or any(one.marker.evaluate(extra) for extra in asked)]
    return sorted(found)


def hashes(page, name, version):
    """The hashes of the wheels of a version, from the page of the index."""
    found = {}
    for digest, file in WHEEL.findall(page):
        try:
            made, released, *_ = parse_wheel_filename(file)
        except InvalidWheelFilename:  # an old file whose name no installer takes today
            continue
        if (made, str(released)) == (name, version):
            found[file] = digest
    return [digest for _, digest in sorted(found.items())]


def locked(text):
    """Package -> (version, hashes), as a lock has them."""
    joined = text.replace("\\\n", " ")
    lines = [line.split() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return {
        canonicalize_name(pin.partition("==")[0]): (
            pin.partition("==")[2],
            [word.removeprefix("--hash=sha256:") for word in words],
        )
        for pin, *words in lines
    }


def main():
    if len(sys.argv) != 2:
        sys.exit("which index? python tests/lock.py INDEX, the address that pip's --index-url takes.")
    pinned = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    blocks = [HEAD]
    for name in wanted(pinned):
        with urlopen(Request(f"{sys.argv[1].rstrip('/')}/{name}/", headers={"Accept": "text/html"}), timeout=60) as answer:
            found = hashes(answer.read().decode(), name, pinned[name])
        if not found:
            sys.exit(f"{name}=={pinned[name]} has no wheels in the index.")
        blocks.append(" \\\n".join([f"{name}=={pinned[name]}", *(f"    --hash=sha256:{digest}" for digest in found)]) + "\n")
    LOCK.write_text("".join(blocks), encoding="utf-8")
    sys.stdout.write(f"{LOCK.name}: {len(blocks) - 1} packages.\n")


if __name__ == "__main__":
    main()
