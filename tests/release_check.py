"""Builds the wheel and the sdist and tries them as a new user would: `make release-check`.

Metadata, README, licences and sizes are checked; then fresh environments of every Python at hand install the wheel without
PyTorch and run a few commands, and one installs it with PyTorch and trains. Needs `build`, `twine` and a package index.
"""

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MINORS = (11, 12, 13)
SETS = "glassformer/training/sets/"
# Largest sizes in bytes: of the data sets, and of everything else. Both are compressed already in wheel and sdist.
SETS_MOST, WITHOUT_SETS_MOST = 8_000_000, 3_000_000
NEEDED = (
    "glassformer/py.typed",
    "glassformer/lab/static/index.html",
    "glassformer/configs/presets.toml",
    f"{SETS}digits/LICENSE",
)


class NotReadyError(Exception):
    """Something that keeps this from being released."""


@dataclass(frozen=True)
class Try:
    """A command, its exit code, and what it has to print."""

    command: str
    code: int
    prints: str


IMPORT = "import glassformer as gf; print(gf.count('bert-base').total)"
WITHOUT_TORCH = (
    Try("glassformer count bert-base", 0, "109,482,240"),
    Try("glassformer ask 'params(ffn) / params in %' bert-base", 0, "51.76"),
    Try("glassformer check 'params = 6553600' attention d_model=512 heads=8", 1, "[heads_times_full_width]"),
    Try("glassformer quiz make parameters --seed 7 --out papers", 0, "14 questions"),
    Try(f'python -c "{IMPORT}"', 0, "109482240"),
    Try(
        "glassformer train digits",
        2,
        "this needs PyTorch, which is not installed: pip install 'glassformer[torch]'",
    ),
    Try("glassformer lab", 2, "pip install 'glassformer[lab]'"),
    Try("glassformer mcp", 2, "pip install 'glassformer[mcp]'"),
)
DOORS = (
    Try("timeout 20 glassformer lab --no-browser", 124, "Glassformer lab: http://127.0.0.1:"),
    Try("glassformer mcp < /dev/null", 0, ""),
)
ENCODER = "import glassformer as gf; print(sum(p.numel() for p in gf.Encoder(gf.spec('bert-tiny')).parameters()))"
WITH_TORCH = (
    *WITHOUT_TORCH[:5],
    Try("glassformer train digits --epochs 1 --out run", 0, "accuracy"),
    Try("glassformer verify run/best", 0, "float64"),
    Try(f'python -c "{ENCODER}"', 0, "4385920"),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=ROOT / "dist", help="where the two files go")
    options.add_argument("--no-torch", action="store_true", help="leave out the environment with PyTorch")
    asked = options.parse_args()
    try:
        wheel, sdist = build(asked.out)
        for line in (*contents(wheel, sdist), *metadata(wheel, sdist)):
            say(line)
        for python in pythons():
            tried(python, wheel, "", WITHOUT_TORCH)
        tried(Path(sys.executable), sdist, "", WITHOUT_TORCH[:1])
        tried(Path(sys.executable), wheel, "[lab,mcp]", DOORS)
        if not asked.no_torch:
            tried(Path(sys.executable), wheel, "[train]", WITH_TORCH)
    except NotReadyError as wrong:
        sys.exit(f"not ready: {wrong}")
    say(f"ready: {wheel.name} and {sdist.name} in {asked.out}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def build(out: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it."""
    shutil.rmtree(out, ignore_errors=True)
    constraint = {"PIP_CONSTRAINT": "constraints.txt", "PIP_BUILD_CONSTRAINT": "constraints.txt"}
    done(run([sys.executable, "-m", "build", "--outdir", out], cwd=ROOT, env=os.environ | constraint))
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def contents(wheel: Path, sdist: Path) -> Iterator[str]:
    """What is in the files, and how large they are with and without the data sets."""
    with zipfile.ZipFile(wheel) as opened:
        inside = {info.filename: info.compress_size for info in opened.infolist()}
    missing = [name for name in NEEDED if name not in inside]
    strangers = [name for name in inside if not name.startswith(("glassformer/", "glassformer-")) or "__pycache__" in name]
    if missing or strangers:
        raise NotReadyError(f"the wheel lacks {missing} and has {strangers}")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    if tests := [name for name in names if "/tests/" in name]:
        raise NotReadyError(f"the sdist has tests, {tests[0]} among them")
    sets = sum(size for name, size in inside.items() if name.startswith(SETS))
    if sets > SETS_MOST:
        raise NotReadyError(f"the data sets have {sets:,} bytes (at most {SETS_MOST:,})")
    for path in (wheel, sdist):
        size = path.stat().st_size
        if size - sets > WITHOUT_SETS_MOST:
            raise NotReadyError(f"{path.name} has {size - sets:,} bytes without the data sets (at most {WITHOUT_SETS_MOST:,})")
        yield f"{path.name}: {size:,} bytes, {size - sets:,} without the data sets"


def metadata(wheel: Path, sdist: Path) -> Iterator[str]:
    """What an index shows: twine's own check, licence files, and a README without dead links."""
    done(run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist]))
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        fields = email.message_from_bytes(opened.read(name))
        stored = [name.replace("METADATA", f"licenses/{file}") for file in fields.get_all("License-File", [])]
        licences = [file for file in stored if file in opened.namelist()]
    sets = len(list((ROOT / "src" / SETS).glob("*/LICENSE")))
    if len(licences) != sets + 2:
        raise NotReadyError(f"{len(licences)} licence files in the wheel, not {sets + 2}: ours, the lab's, one for each set")
    if dead := relative_links(fields.get_payload()):
        raise NotReadyError(f"the README of the metadata has links that lead nowhere outside the repository: {dead}")
    yield f"metadata {fields['Metadata-Version']}, {len(licences)} licence files, {fields['License-Expression']}"


def relative_links(markdown: str) -> list[str]:
    """Targets of links and pictures that are not whole addresses, outside code."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", markdown, flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^()\s]+)\)", prose) if not re.match(r"https?://|#", target)]


def pythons() -> Iterator[Path]:
    """One Python of each version that the classifiers name, from the path or from pyenv; a missing one is said."""
    for minor in MINORS:
        kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/python3"))
        for candidate in (shutil.which(f"python3.{minor}"), *kept):
            if (
                candidate
                and run([candidate, "-c", f"import sys, venv; assert sys.version_info[:2] == (3, {minor})"]).returncode == 0
            ):
                yield Path(candidate)
                break
        else:
            say(f"not tried: Python 3.{minor} is not on this machine")


def tried(python: Path, package: Path, extras: str, tries: tuple[Try, ...]) -> None:
    """Install into a fresh environment, and run commands in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="glassformer-release-") as folder:
        place = Path(folder)
        done(run([python, "-m", "venv", place / "venv"]))
        inside = place / "venv" / "bin"
        constraint = ["--constraint", ROOT / "constraints.txt"] if extras else []
        done(run([inside / "python", "-m", "pip", "install", "--quiet", *constraint, f"{package}{extras}"]))
        (place / "work").mkdir()
        env = {"PATH": f"{inside}:{os.environ['PATH']}", "HOME": folder, "COLUMNS": "100", "LANG": "C.UTF-8"}
        for one in tries:
            found = run(["bash", "-c", one.command], cwd=place / "work", env=env)
            refused_at_length = one.code == 2 and found.stdout.count("\n") != 1
            if found.returncode != one.code or one.prints not in found.stdout or refused_at_length:
                raise NotReadyError(f"{python}: `{one.command}` ended with {found.returncode} and printed {found.stdout!r}")
        version = done(run([inside / "python", "--version"])).strip()
        say(f"{version}: {package.name}{extras} installed, as expected: {'; '.join(one.command for one in tries)}")


def run(command: list[object], **options: object) -> subprocess.CompletedProcess[str]:
    """A command with its two outputs as one."""
    whole = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
    return subprocess.run([str(word) for word in command], **whole)


def done(found: subprocess.CompletedProcess[str]) -> str:
    """What a command printed; one that failed ends the check."""
    if found.returncode != 0:
        raise NotReadyError(f"`{' '.join(found.args)}` failed:\n{found.stdout}")
    return found.stdout


if __name__ == "__main__":
    main()
