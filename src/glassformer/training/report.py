"""The report of a run, read from its folder: data, encoder, settings, costs, epochs and test results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import glassformer.show.curves as show_curves
from glassformer.errors import shown
from glassformer.files.documents import read_document
from glassformer.show.metric import Metric

PICTURES = ("curves.png", "curves.svg")
MOST_SHOWN = 30  # classes in a table


def report_of(run: str | Path) -> dict[str, Any]:
    """Collect the report of a finished run as a JSON-serializable dict, for Markdown or HTML."""
    folder = Path(run)
    about = read_document(folder / "run.json")
    lines = _lines(folder)
    curve = show_curves.read_curve(folder)
    start, end = (next((line for line in lines if line["kind"] == kind), {}) for kind in ("start", "end"))
    said = curve.to_dict()
    notes = [note for note in show_curves.curves_table([curve]).notes if note]
    test = dict(end.get("test", {}))
    if "confusion" in test:
        test["classes"] = by_class(test["confusion"], about["data"]["labels"])
    return {
        "run": folder.resolve().name,
        "data": {key: value for key, value in about["data"].items() if key != "source"} | about.get("provenance", {}),
        "data_notes": [note for note in about.get("notes", []) if isinstance(note, str)],
        "start": about.get("start", {}),
        "counts": about.get("counts", {}),
        "spec": read_document(folder / "spec.json"),
        "settings": read_document(folder / "settings.json"),
        "steps": start.get("steps"),
        "predicted": about.get("predicted", {}),
        "measured": start.get("measured", {}) | end.get("measured", {}),
        "seconds": end.get("seconds"),
        "peak_bytes": end.get("peak_bytes"),
        "epochs": [line for line in lines if line["kind"] == "epoch"],
        "summary": said,
        "metric": curve.metric._asdict(),
        "notes": notes,
        "best": end.get("best"),
        "test": test,
        "pictures": [name for name in PICTURES if (folder / name).is_file()],
    }


def by_class(confusion: Sequence[Sequence[int]], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return precision, recall and F1 of each class; confusion[i][j] counts rows of class i predicted as j."""
    rows = []
    for i, label in enumerate(labels):
        right, true, said = confusion[i][i], sum(confusion[i]), sum(row[i] for row in confusion)
        precision, recall = right / said if said else None, right / true if true else None
        f1 = 2 * right / (said + true) if said + true else None
        rows.append({"label": label, "rows": true, "said": said, "precision": precision, "recall": recall, "f1": f1})
    return rows


def report_markdown(report: dict[str, Any]) -> str:
    """Format the report as Markdown."""
    sections = [
        [f"# {_cell(report['run'])}", _in_short(report)],
        ["## Data", _data(report["data"], report["data_notes"])],
        ["## Encoder", _encoder(report)],
        ["## Settings", _settings(report["settings"])],
        ["## Predicted and measured", _costs(report)],
        ["## Epochs", *(f"![loss and accuracy]({name})" for name in report["pictures"][:1]), _epochs(report), *report["notes"]],
        *([["## Test", *_test(report)]] if report["test"] else []),
    ]
    return "\n\n".join(part for section in sections for part in section if part) + "\n"


def _in_short(report: dict[str, Any]) -> str:
    said, test, best, metric = report["summary"], report["test"], report["best"], Metric(**report["metric"])
    last, highest = (metric.text(said[f"{which}_{metric.name}"]) for which in ("validation", "best"))
    turned = "did not rise" if said["turn"] is None else f"started to rise at epoch {said['turn']}"
    over = ": the run overfits from there" if said["overfits"] else ""
    tested = (
        f"Test {metric.name} {metric.text(metric.of(test))}, loss {test['loss']:.4f}, with the weights of epoch {best['epoch']}. "
        if test
        else ""
    )
    return (
        f"{tested}Validation {metric.name}: {last} at the end, {highest} in the best "
        f"epoch ({said['best_epoch']} of {said['epochs']}). The validation loss {turned}{over}."
    )


def _data(data: dict[str, Any], notes: Sequence[str]) -> str:
    rows = ", ".join(f"{name} {count:,}" for name, count in data["rows"].items())
    labels = data["labels"]
    named = ", ".join(_cell(label) for label in labels[:MOST_SHOWN]) + (", …" if len(labels) > MOST_SHOWN else "")
    facts = [
        ("name", data["name"]),
        ("task", data["task"]),
        ("rows", rows),
        ("labels", f"{len(labels)}: {named}" if labels else "none"),
    ]
    facts += [(key, data[key]) for key in ("source", "licence", "baseline") if key in data]
    return _table(("", ""), [*facts, ("fingerprint", data["fingerprint"][:16]), *(("note", note) for note in notes)])


def _encoder(report: dict[str, Any]) -> str:
    spec = ", ".join(f"{name}={_cell(value)}" for name, value in report["spec"].items())
    counts, start = report["counts"], report["start"]
    facts = [("spec", spec)]
    if start:
        facts.append(("started from", start["from"]))
    names = {"parameters": "parameters", "trained": "trained", "task_specific": "task-specific (the head)"}
    facts += [(words, f"{counts[name]:,}") for name, words in names.items() if name in counts]
    return _table(("", ""), facts)


def _settings(settings: dict[str, Any]) -> str:
    return _table(("setting", "value"), [(name, "none" if value is None else value) for name, value in settings.items()])


def _costs(report: dict[str, Any]) -> str:
    said, measured = report["predicted"], report["measured"]
    rows: list[tuple[str, str, str]] = []
    if "parameters" in said:
        rows.append(("parameters", f"{said['parameters']:,}", f"{measured['parameters']:,}" if "parameters" in measured else "·"))
    step = measured.get("step")
    if step:
        rows.append((f"GFLOPs of a step of {step['rows']} × {step['t']}", _giga(step["predicted_flops"]), _giga(step["flops"])))
        rows.append((f"MB of a step of {step['rows']} × {step['t']}", _mega(step["predicted_bytes"]), _mega(step["bytes"])))
    if report["peak_bytes"]:
        rows.append(("peak process memory, MB", "·", _mega(report["peak_bytes"])))
    if report["seconds"] is not None:
        rows.append(("seconds", "·", f"{report['seconds']:.1f}"))
    if "per_second" in measured:
        rows.append(("tokens or images per second", "·", f"{measured['per_second']:,.0f}"))
    if "share" in measured:
        rows.append(("share of the machine's peak", "·", f"{measured['share']:.0%} of {measured['peak'] / 1e9:,.0f} GFLOP/s"))
    where = ", ".join(f"{name} {measured[name]}" for name in ("device", "threads", "processes") if name in measured)
    return _table(("", "predicted", "measured"), [*rows, ("where", "·", where)], right=True)


def _epochs(report: dict[str, Any]) -> str:
    metric = Metric(**report["metric"])
    heads = ("epoch", "training loss", "validation loss", f"training {metric.name}", f"validation {metric.name}", "seconds")
    best, turn = (report["best"] or {}).get("epoch"), report["summary"]["turn"]
    rows = []
    for line in report["epochs"]:
        marks = [word for word, place in (("best", best), ("loss rises", turn)) if place == line["epoch"]]
        name = f"{line['epoch']}" + (f" ({', '.join(marks)})" if marks else "")
        train, found = line["train"], line["validation"]
        losses = f"{train['loss']:.4f}", f"{found['loss']:.4f}"
        rows.append((name, *losses, *(metric.text(metric.of(one)) for one in (train, found)), f"{line['seconds']:.1f}"))
    return _table(heads, rows, right=True)


def _test(report: dict[str, Any]) -> Iterable[str]:
    test, labels = report["test"], report["data"]["labels"]
    metric = Metric(**report["metric"])
    said = f"{metric.name[0].upper()}{metric.name[1:]} {metric.text(metric.of(test), 2)}, loss {test['loss']:.4f}"
    yield f"{said}; to beat: {_cell(report['data'].get('baseline', 'none'))}"
    if "bleu" in test:
        signed = test.get("signatures", {})
        yield "; ".join(
            f"{name} {test[key]:.1f} ({_cell(signed.get(key, ''))})" for name, key in (("BLEU", "bleu"), ("chrF", "chrf"))
        )
    if "classes" not in test or len(labels) > MOST_SHOWN:
        return
    percent = [[_percent(row[key]) for key in ("precision", "recall", "f1")] for row in test["classes"]]
    rows = [(row["label"], f"{row['rows']:,}", *cells) for row, cells in zip(test["classes"], percent, strict=True)]
    yield _table(("class", "rows", "precision", "recall", "F1"), rows, right=True)
    yield "Confusion matrix (rows: true class, columns: predicted class):"
    counts = [(label, *(str(count) for count in row)) for label, row in zip(labels, test["confusion"], strict=True)]
    yield _table(("", *labels), counts, right=True)


def _table(heads: Sequence[Any], rows: Iterable[Sequence[Any]], *, right: bool = False) -> str:
    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(_cell(cell) for cell in cells) + " |"

    rule = "|:---" + ("|---:" if right else "|:---") * (len(heads) - 1) + "|"
    return "\n".join([line(heads), rule, *map(line, rows)])


def _cell(value: Any) -> str:
    return shown(value, limit=1000).replace("|", "\\|")


def _percent(share: float | None) -> str:
    return "·" if share is None else f"{share:.1%}"


def _giga(flops: float | None) -> str:
    return "·" if flops is None else f"{flops / 1e9:,.4g}"


def _mega(size: float | None) -> str:
    return "·" if size is None else f"{size / 1e6:,.1f}"


def _lines(folder: Path) -> list[dict[str, Any]]:
    """Read the log; `read_curve` has checked it, and a last line that is incomplete is skipped."""
    found = []
    for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [line for line in found if isinstance(line, dict) and "kind" in line]
