"""Splitting rows into train, validation and test: reproducible, independent of row order, duplicates together."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import fmean
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.training.data.dataset import FORMS, PARTS, Split, TaskName
from glassformer.training.data.parallel import linked
from glassformer.training.data.texts import Rows

LARGE = 20.0  # numbers up to here are learned without scaling: ratings from 0 to 5, logarithms, shares
# Texts that differ only in whitespace and punctuation count as equal.
NOISE = re.compile(r"[\s!-/:-@\[-`{-~\u2000-\u206f\u0964\u0965«»¿¡]+")
ASCII_NOISE = bytes(code for code in range(128) if NOISE.fullmatch(chr(code)))


def check_shares(shares: Sequence[float]) -> tuple[float, float, float]:
    """Check three positive shares that add up to 1."""
    numbers = [float(share) for share in shares if isinstance(share, int | float)]
    if len(numbers) != 3 or len(shares) != 3 or not all(0 < share < 1 for share in numbers) or abs(sum(numbers) - 1) > 1e-6:
        raise GlassformerError(
            f"split={shown(tuple(shares))} is not allowed: give three positive shares (train, validation, test) that add up to 1."
        )
    return numbers[0], numbers[1], numbers[2]


def into_parts(given: Mapping[str, Rows], shares: tuple[float, float, float], seed: int) -> tuple[dict[str, Rows], list[str]]:
    """Return the three splits: given ones are kept, missing ones are drawn from the training rows."""
    parts, notes = dict(given), []
    missing = [name for name in PARTS if name not in parts]
    if missing:
        wanted = [share if name == "train" or name in missing else 0.0 for name, share in zip(PARTS, shares, strict=True)]
        scale = sum(wanted)
        places = _cut(parts["train"], [share / scale for share in wanted[1:]], seed)
        if len(given) > 1:
            notes.append(f"drawn from the training rows because not given: {', '.join(missing)}")
        rows = parts["train"]
        parts |= {name: rows.take(places[name]) for name in ("train", *missing)}
        for name in missing:
            if not len(parts[name]):
                raise _too_few(rows, shares, name)
    return {name: parts[name] for name in PARTS} | {name: rows for name, rows in parts.items() if name not in PARTS}, notes


def _too_few(rows: Rows, shares: tuple[float, float, float], part: str) -> GlassformerError:
    different, labels = len(set(content_keys(rows))), len(_used(rows))
    alike = f", {different:,} of them different," if different < len(rows) else ""
    kept = f" (each of the {labels:,} labels keeps a row for training)" if labels > 1 and rows.form.targets == "class" else ""
    lines = " In a .txt file each line is a text: split long ones." if rows.form == FORMS["mlm"] else ""
    return GlassformerError(
        f"{len(rows):,} row{'' if len(rows) == 1 else 's'}{alike} {'is' if len(rows) == 1 else 'are'} too few for "
        f"split={tuple(round(share, 3) for share in shares)}: {part} would be empty{kept}. "
        f"Give more rows, larger shares (--split), or separate files for the splits.{lines}"
    )


def _cut(rows: Rows, shares: Sequence[float], seed: int) -> dict[str, list[int]]:
    """Return the row numbers of each split, stratified by class and chosen by a hash of the content, so that row order does
    not matter and equal texts (or images) are never in two splits."""
    groups: dict[bytes, list[int]] = {}
    for place, key in enumerate(group_keys(rows)):
        groups.setdefault(hashlib.blake2b(str(seed).encode() + b"\0" + key, digest_size=16).digest(), []).append(place)
    classes: dict[Any, list[bytes]] = {}
    labels = _strata(rows)
    for drawn in sorted(groups):
        names = [labels[place] for place in groups[drawn]]
        classes.setdefault(min(names), []).append(drawn)
    parts: dict[str, list[int]] = {name: [] for name in PARTS}
    seen, taken = 0, {"validation": 0, "test": 0}
    for name in sorted(classes):
        members = classes[name]
        seen += len(members)
        start = 0
        for part, share in zip(("validation", "test"), shares, strict=True):
            # Due over all classes so far minus taken, so that rounding evens out. Each class keeps a training row.
            due = min(int(seen * share + 0.5) - taken[part], len(members) - 1 - start)
            taken[part] += max(0, due)
            end = start + max(0, due)
            parts[part] += [place for drawn in members[start:end] for place in groups[drawn]]
            start = end
        parts["train"] += [place for drawn in members[start:] for place in groups[drawn]]
    return {name: sorted(places) for name, places in parts.items()}


def _strata(rows: Rows) -> Sequence[str]:
    """Return the class of each row, of several the least frequent one; rows without classes are one group."""
    if rows.form.targets == "class":
        return rows.labels or ()
    if rows.form.targets != "classes":
        return [""] * len(rows)
    counts = Counter(_every(rows))
    return [min(names, key=lambda name: (counts[name], name), default="") for names in rows.labels or ()]


def content_keys(rows: Rows) -> list[bytes]:
    """Return the keys that identify equal rows: letters and digits without case, or the bytes of the image."""
    if rows.form.inputs == "image":
        return list(rows.inputs.content())
    if rows.form.inputs == "texts":
        return [b"\x1f".join(_text_keys(texts)) for texts in rows.inputs]
    return _text_keys(" ".join(row) for row in rows.inputs) if rows.form.inputs == "words" else _text_keys(rows.inputs)


def _text_keys(texts: Iterable[str]) -> list[bytes]:
    return [_text_key(text) for text in texts]


def _text_key(text: str) -> bytes:
    """Return what is left of a text without case and NOISE; its ASCII part goes as bytes, which is 20 times as fast."""
    if text.isascii():
        plain = text.encode()
        return plain.lower().translate(None, ASCII_NOISE) or plain
    rest = _one_form(text.casefold()).encode().translate(None, ASCII_NOISE).decode()
    return (NOISE.sub("", rest) or text).encode()


def group_keys(rows: Rows) -> list[bytes]:
    """Return a key per row; rows with the same key are never in two splits."""
    if rows.form.targets != "text":
        return content_keys(rows)
    return linked(content_keys(rows), content_keys(replace(rows, inputs=rows.labels)))


def _one_form(text: str) -> str:
    """Normalize to NFC, as the tokenizer does."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def leaks(parts: Mapping[str, Rows]) -> list[str]:
    """Return a note for each split that shares rows with training."""
    known = set(content_keys(parts["train"]))
    notes = []
    for name, rows in parts.items():
        if name != "train" and (shared := sum(key in known for key in content_keys(rows))):
            notes.append(f"{shared:,} of the {len(rows):,} {name} rows are also in training: the {name} accuracy is too high")
    return notes


def label_order(parts: Mapping[str, Rows], name: str) -> tuple[str, ...]:
    """Return the labels of the training rows, sorted (numbers numerically), after checking the other splits."""
    for part, rows in parts.items():
        if not len(rows):
            raise GlassformerError(f"{name}: the split {part} is empty.")
    used = {part: _used(rows) for part, rows in parts.items()}
    labels = used["train"]
    if parts["train"].form.targets in ("none", "number", "text"):
        return ()
    if len(labels) < 2:
        alike = f"every training row has the label '{shown(min(labels))}'" if labels else "no training row has a label"
        raise GlassformerError(f"{name}: {alike}. At least two classes are needed.")
    for part, found in used.items():
        unseen = sorted(found - labels)
        if unseen:
            others = f" (and {len(unseen) - 1:,} more)" if len(unseen) > 1 else ""
            raise GlassformerError(
                f"{name}: the label '{shown(unseen[0])}'{others} is in {part} but not in training. Check its spelling, "
                f"or remove those rows.{_near(unseen[0], labels)} Training has {listed(map(shown, sorted(labels)), limit=80)}."
            )
    numbers = all(re.fullmatch(r"-?\d{1,18}", label) for label in labels)
    return tuple(sorted(labels, key=lambda label: (int(label) if numbers else 0, label)))


def check_label_column(rows: Rows, name: str) -> None:
    """Refuse a label column whose values hardly ever repeat."""
    labels = _used(rows)
    if rows.form.targets == "number":
        if len(labels) < 2 <= len(rows):
            raise GlassformerError(f"{name}: every row has the number {min(labels)}: there is nothing to predict.")
        return
    if rows.form in (FORMS["classify"], FORMS["pair"]) and len(labels) > max(20, len(rows) // 2):
        are_numbers = all(re.fullmatch(r"-?\d+\.\d+", one) for one in labels)
        numbers = " To predict numbers, give task='regress' (--task regress)." if are_numbers else ""
        raise GlassformerError(
            f"{name} has {len(labels):,} different labels in {len(rows):,} rows: this is not a label column.{numbers} "
            "Choose another with label=… (--label)."
        )


def always_one(parts: Mapping[str, Rows]) -> str:
    """Return the baseline that always predicts the same: the most frequent training label, or the mean number."""
    if parts["train"].form.targets == "text":
        return "none"
    if parts["train"].form.targets == "number":
        mean = fmean(_every(parts["train"]))
        error = fmean((number - mean) ** 2 for number in _every(parts["test"]))
        return f"always {mean:.4g}: mean squared error {error:.4g}"
    train, test = (Counter(_every(parts[name])) for name in ("train", "test"))
    if not train or not test:
        return "none"
    label = max(sorted(train), key=train.__getitem__)
    if parts["train"].form.targets == "classes":
        return f"always '{shown(label)}': micro-F1 {2 * test[label] / (test.total() + len(parts['test'])):.1%}"
    return f"always '{shown(label)}': {test[label] / test.total():.1%}"


def doubts(parts: Mapping[str, Rows], labels: Sequence[str]) -> list[str]:
    """Return notes on suspicious data: near-identical labels, equal inputs with different labels, labels never evaluated."""
    notes = []
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(_plain(label), []).append(label)
    if twins := [" and ".join(f"'{shown(one)}'" for one in group) for group in alike.values() if len(group) > 1]:
        notes.append(f"labels that differ only in case, spaces or a trailing .0, and are treated as different: {listed(twins)}")
    every = [rows for rows in parts.values() if rows.form.targets == "class"]
    notes += _wide_numbers(parts["train"])
    meant: dict[bytes, set[str]] = {}
    for rows in every:
        for key, label in zip(content_keys(rows), rows.labels or (), strict=False):
            meant.setdefault(key, set()).add(label)
    if several := sum(len(names) > 1 for names in meant.values()):
        notes.append(f"equal inputs with different labels: {several:,}")
    for name in PARTS[1:]:
        if name in parts and (absent := [label for label in labels if label not in _used(parts[name])]):
            some = listed(map(shown, absent), limit=60)
            notes.append(f"labels without rows in {name}: {len(absent):,} of {len(labels):,} ({some})")
    return notes


def _wide_numbers(rows: Rows) -> list[str]:
    """Return a note on numbers so large that a head, whose outputs start near zero, takes long to reach them."""
    if rows.form.targets != "number" or (largest := max(map(abs, _every(rows)))) <= LARGE:
        return []
    return [f"labels are as large as {largest:.4g}: training is faster with numbers between -1 and 1 or so; divide them first"]


def _plain(label: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"(?<=\d)\.0+$", "", label)).strip().casefold()


def _near(label: str, labels: set[str]) -> str:
    twin = next((one for one in sorted(labels) if _plain(one) == _plain(label)), None)
    return f" Did you mean '{shown(twin)}'?" if twin is not None else nearest(label, labels)


def numbered(name: str, rows: Rows, labels: tuple[str, ...]) -> Split:
    """Convert rows to a split, with label names as numbers."""
    number = {label: place for place, label in enumerate(labels)}
    task: TaskName = rows.task
    if rows.labels is None or rows.form.targets == "text":
        return Split(name, task, rows.inputs, rows.labels)
    if rows.form.lists:
        return Split(name, task, rows.inputs, [tuple(number[tag] for tag in tags) for tags in rows.labels])
    if rows.form.targets == "number":
        return Split(name, task, rows.inputs, np.array(rows.labels, dtype=np.float64))  # type: ignore[arg-type]
    return Split(name, task, rows.inputs, np.array([number[label] for label in rows.labels], dtype=np.int64))  # type: ignore[arg-type]


def _used(rows: Rows) -> set[Any]:
    return set(_every(rows))


def _every(rows: Rows) -> Iterable[Any]:
    """Yield each label: one per row or word, or as many as a row has."""
    return chain.from_iterable(rows.labels or ()) if rows.form.lists else rows.labels or ()
