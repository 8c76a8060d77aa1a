"""A tensor's name ends in its axes: local variables of the model are watched while it runs, and compared with their shapes."""

import re
import sys
from pathlib import Path

import pytest
import torch
from model_cases import BERT, DEBERTA, MODERN, VIT, WHISPER

from glassformer import model
from glassformer.model import Encoder, encode_packed
from glassformer.model.fast import apply, packing
from glassformer.spec import EncoderSpec

ROOM = Path(model.__file__).parent
SUFFIX = re.compile(r"[a-z]_([A-Z1]+)$")
FIRST = re.compile(r"^(W|b|E)_")  # W_Q, b_O: the paper's symbols, not axes
LEGEND = set(re.findall(r"(?:^|\s)([A-Z])  ", model.__doc__))


class Watcher:
    """Inspects the tensors among the local variables of every function of a folder, after each line."""

    def __init__(self, folder: Path, sizes: dict[str, set[int]], *, free: str = "") -> None:
        self.folder, self.sizes, self.free = str(folder), sizes, free
        self.seen: set[str] = set()
        self.faults: set[str] = set()

    def __enter__(self):
        sys.settrace(self.enter)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def enter(self, frame, *_):
        return self.look if frame.f_code.co_filename.startswith(self.folder) else None

    def look(self, frame, *_):
        here: dict[str, int] = {"1": 1}
        for name, value in frame.f_locals.items():
            found = SUFFIX.search(name)
            if found and isinstance(value, torch.Tensor) and not FIRST.match(name):
                self.compare(name, found[1], value, here)
        return self.look

    def compare(self, name: str, letters: str, value: torch.Tensor, here: dict[str, int]) -> None:
        self.seen.add(name)
        if len(letters) != value.ndim:
            self.faults.add(f"{name} is {tuple(value.shape)}")
            return
        for letter, size in zip(letters, value.shape, strict=True):
            # A letter has one size in one function (but for `free` ones), and one that the spec or the input allows.
            changed = here.setdefault(letter, size) != size and letter not in self.free
            if changed or size not in self.sizes.get(letter, {size}):
                self.faults.add(f"{name} is {tuple(value.shape)}")


def sizes_of(spec: EncoderSpec, batch: int, t: int) -> dict[str, set[int]]:
    """The sizes that each letter may have: all different, so that axes in the wrong order are found."""
    fixed = {"H": spec.heads, "K": spec.head_k, "V": spec.head_v, "D": spec.d_model, "F": spec.ffn_width, "C": spec.classes}
    fixed |= {"G": spec.ffn_width * (2 if spec.gated else 1), "E": spec.table_width if spec.vocab else spec.d_model}
    fixed |= {"B": batch, "P": spec.channels * spec.patch_size[0] * spec.patch_size[1]}
    joined = {"D": {spec.d_model}, "T": {1, t, t - spec.registers, spec.patches, spec.registers}, "S": {t, spec.patches}}
    # Keys are turned before they are shared, by the same function as queries.
    joined |= {"H": {spec.heads, spec.key_heads}, "J": {spec.key_heads}}
    return {letter: {size} for letter, size in fixed.items()} | joined


CASES = {
    "bert": BERT.replace(d_k=6, d_v=7, classes=9, embedding_size=10),
    "modern": MODERN.replace(d_k=6, d_v=7),
    "grouped": MODERN.replace(heads=8, kv_heads=4, d_k=6, d_v=7),
    "vit": VIT.replace(d_k=6, d_v=7, pooler="attention", pool="mean", head_reads="first_and_mean", layer_scale=True),
    "distilled": VIT.replace(d_k=6, d_v=7, class_tokens=2, head="distilled", classes=19),
    "relative": BERT.replace(d_k=6, d_v=7, position="relative", pool="mean", pooler="norm", attend="causal"),
    "whisper": WHISPER.replace(d_k=6, d_v=7),
    "disentangled": DEBERTA.replace(d_k=6, d_v=7),
    "patch bias": VIT.replace(d_k=6, d_v=7, registers=0, position="relative_2d", final_norm="pooled"),
}


@pytest.mark.parametrize("replaced", [False, True], ids=["plain", "fast"])
@pytest.mark.parametrize("spec", CASES.values(), ids=CASES)
def test_every_name_matches_the_shape(spec, replaced):
    encoder, batch = Encoder(spec), 11
    encoder = apply(encoder) if replaced else encoder
    t = spec.longest if spec.one_length else 13
    floats = {"image": spec.picture_shape, "frames": (spec.mels, spec.frames)}
    inputs = torch.randn(batch, *floats[spec.reads]) if spec.one_length else torch.randint(0, 9, (batch, t))
    attend = None if spec.one_length else torch.arange(t) < torch.arange(2, 13)[:, None]
    with Watcher(ROOM, sizes_of(spec, batch, t)) as watcher:
        encoder(inputs, attend, return_weights=[0])
    assert watcher.faults == set()
    assert len(watcher.seen) >= 15
    assert {letter for name in watcher.seen for letter in SUFFIX.search(name)[1]} - {"1"} <= LEGEND


def test_every_name_matches_the_shape_in_a_packed_row(monkeypatch):
    monkeypatch.setattr(packing, "packable", lambda _: True)
    spec = CASES["bert"]
    sizes = sizes_of(spec, 1, 5) | {"B": {1, 2}, "T": {2, 3, 5}, "S": {2, 3, 5}, "N": {5}}
    with Watcher(ROOM, sizes, free="B") as watcher:  # one row, of two sequences
        encode_packed(Encoder(spec), [torch.tensor([1, 2, 3]), torch.tensor([4, 5])], part="logits")
    assert watcher.faults == set()
    assert "q_NHK" in watcher.seen


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("x_BT = zeros(3, 5)", set()),
        ("x_BT = zeros(5, 3)", {"x_BT is (5, 3)"}),
        ("x_BTD = zeros(3, 5)", {"x_BTD is (3, 5)"}),
        ("x_B1 = zeros(3, 5)", {"x_B1 is (3, 5)"}),
        ("x_TS = zeros(5, 4); y_ST = zeros(5, 4)", {"y_ST is (5, 4)"}),
        ("x_BT = zeros(5, 3); x_BT = zeros(3, 5)", set()),
        ("x_BT = zeros(5, 3)\n    x_BT = zeros(3, 5)", {"x_BT is (5, 3)"}),
    ],
)
def test_a_wrong_name_is_detected(body, fault, tmp_path):
    source = tmp_path / "liar.py"
    source.write_text(f"def lie(zeros):\n    {body}\n", encoding="utf-8")
    space: dict = {}
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), space)
    with Watcher(tmp_path, {"B": {3}}) as watcher:
        space["lie"](torch.zeros)
    assert watcher.faults == fault


def test_the_legend_names_every_letter():
    assert set("BTSNHJKVDEFGCPMR") == LEGEND
