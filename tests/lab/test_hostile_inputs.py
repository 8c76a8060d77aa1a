"""Hostile texts put into the lab: addresses, sentences, labels, file names, run folders, data; every page shows them as text."""

import csv
import json
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from checkpoint_files import CONFIG, add_tokenizer, tensors_of
from faults.hostile_strings import STRINGS
from lab.hostile import FEW, FEWEST, QUIET, batches, canary
from safetensors.numpy import save_file

from glassformer.lab import start
from glassformer.lab.folders import Folders

GO = "(address) => { history.pushState(null, '', address); dispatchEvent(new PopStateEvent('popstate')); }"
ALL = pytest.mark.slow

# `{}` is where a string stands; one string may stand in several places.
ADDRESSES = {
    "bench": [
        "/bench?spec={}",
        "/bench?spec=layer&d_model={}&convention={}&at={}&open={}",
        "/bench?spec=layer&tab=compare&against={}",
        "/bench?spec=layer&tab={}&along={}",
    ],
    "trace": [
        "/trace?model={}",
        "/trace?model=random&spec={}",
        "/trace?model=random&spec=layer+{}",
        "/trace?edit={}",
        "/trace?at={}&step={}&view={}&layer={}&show={}&q={}",
        "/trace?model=digits&image={}",
        "/trace?text={}",
    ],
    "hand": [
        "/hand?example={}&kind={}&title={}",
        "/hand?given={}&given=q%3D{}",
        "/hand?title={}&given=k%3D{}:%201%201;%20b:%200%201",
        "/hand?set=tokens%3D{}&set=scale%3D{}&set={}%3D1",
        "/hand?claim={}&at={}",
        "/hand?claim=weights%3D{}",
    ],
    "check": [
        "/check?text={}&kind={}",
        "/check?text=3%20*%204%20%3D%2013%20{}&open=1!",
        "/check?tab=claim&claim={}",
        "/check?tab=claim&claim=params%20of%20{}%20%3D%20{}",
        "/check?tab=quiz&set={}",
        "/check?tab=quiz&n={}&q={}&seed={}",
        "/check?tab=quiz&set=worked-head&n=3&did=scores~0~{}&did=weights~0~{}&did={}~0~{}&q=end",
    ],
    "train": ["/train?run={}", "/train?data={}&epochs={}&spec={}", "/train?name={}&d_model={}&set-lr={}&text={}&label={}"],
}


def quoted(text):
    return quote(text, safe="", errors="replace")


def settle(page):
    page.wait_for_timeout(25)
    page.wait_for_function(QUIET)


@pytest.mark.parametrize("strings", [FEWEST[::2], pytest.param(STRINGS, marks=ALL)], ids=["few", "all"])
def test_an_address_is_shown_as_text(browser, lab, entered, strings, figure):
    count = 0
    with canary(browser, lab.address, base_url=lab.address, storage_state=entered) as made:
        page = made.new_page()
        for addresses in ADDRESSES.values():
            page.goto(addresses[0].replace("{}", "layer"))
            page.wait_for_selector("main h1")
            for number, text in enumerate(strings):
                address = addresses[number % len(addresses)]
                page.evaluate(GO, address.replace("{}", quoted(text)))
                settle(page)
                made.look(page, [text], about=address.replace("{}", text))
                count += 1
    printable = [one for one in strings if one.isprintable() and len(one) > 5]
    assert len(made.shown) > 0.9 * len(printable)
    figure(
        "W5",
        f"addresses: {len(strings)} strings in {count:,} addresses of five pages, {len(made.shown)} of them found on a page",
        cases=len(strings),
        part="addresses",
    )


@pytest.mark.parametrize("strings", [FEW[:40], pytest.param(STRINGS, marks=ALL)], ids=["few", "all"])
def test_words_and_solutions_are_shown_as_text(browser, lab, entered, strings, figure):
    with canary(browser, lab.address, base_url=lab.address, storage_state=entered) as made:
        page = made.new_page()
        for batch in batches([one for one in strings if one.strip()], 40):
            words = quoted(" ".join(batch))
            weights = "layers.0.attention.weights%5Bhead%3D0,t%3D1,s%3D2%5D"
            for more in (f"&at={weights}", "&view=lines&edit=swap:0,1&edit=mask:2", "&layer=in"):
                page.goto(f"/trace?model=random&text={words}{more}")
                page.wait_for_selector(".trace-centre")
                settle(page)
                made.look(page, batch, about=f"words {more}")
            page.goto("/hand")
            page.get_by_text("paste a problem file").click()
            problem = {"title": " ".join(batch), "tokens": batch[:12], "Q": np.eye(12)[: len(batch)].tolist()}
            problem |= {"K": problem["Q"], "V": problem["Q"]}
            page.get_by_label("problem file").fill(json.dumps(problem))
            settle(page)
            made.look(page, batch, about="a problem")
        page.goto("/check?example=own")
        page.locator("textarea").fill("\n\n".join(f"3 * 4 = 13 {text}" for text in strings))
        page.locator(".check-lines").wait_for()
        page.wait_for_timeout(400)
        settle(page)
        made.look(page, strings, about="a solution")
    printable = [one for one in strings if one.isprintable() and len(one) > 5]
    assert len(made.shown) > 0.9 * len(printable)
    figure(
        "W5",
        f"sentences, problems and solutions: {len(strings)} strings, {len(made.shown)} of them found on {made.pages} pages",
        cases=len(strings),
        part="texts",
    )


def named(strings):
    """Those that a file can be called."""
    return [one for one in strings if one.strip(". ") and "/" not in one and one.isprintable() and len(one) < 80]


def model_folder(folder, strings):
    """A classifier whose classes, tokens and name are the strings."""
    config = CONFIG | {"architectures": ["BertForSequenceClassification"], "num_labels": len(strings)}
    config["id2label"] = {str(place): text for place, text in enumerate(strings)}
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file({name: np.ascontiguousarray(value) for name, value in tensors_of(config).items()}, folder / "model.safetensors")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *strings[:20]]
    vocabulary = {word: place for place, word in enumerate(dict.fromkeys(words))}
    split = {"type": "Split", "pattern": {"String": "|||"}, "behavior": "Removed", "invert": False}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    return add_tokenizer(folder, changes={"model": model, "pre_tokenizer": split})


@pytest.mark.parametrize("strings", [FEWEST, pytest.param(STRINGS, marks=ALL)], ids=["few", "all"])
def test_models_with_hostile_labels_tokens_and_names_are_shown_as_text(browser, lab_with, tmp_path, monkeypatch, strings, figure):
    folders = []
    for number, batch in enumerate(batches([one for one in strings if "\ud800" not in one and "\udfff" not in one], 12)):
        name = (named(batch) or ["plain"])[0]
        folders.append((model_folder(tmp_path / str(number) / name, batch), batch))
    others = [tmp_path / "names" / one for one in named(strings)]
    for one in others:
        one.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(start.Folders, "of", lambda _: Folders((*(folder for folder, _ in folders), *others)))
    with lab_with(str(folders[0][0])) as lab, canary(browser, lab.address, base_url=lab.address) as made:
        page = made.new_page()
        page.goto(lab.at("/trace"))
        page.wait_for_selector(".trace-centre")
        for folder, batch in folders:
            text = quoted("|||".join(batch[:10]))
            for more in ("", "&layer=after&step=head.logits", "&view=lines&edit=mask:1"):
                page.goto(f"/trace?model={quoted(str(folder))}&text={text}{more}")
                page.wait_for_selector(".trace-centre")
                settle(page)
                made.look(page, [*batch, *named(strings)], about=f"a model {more}")
    assert len(made.shown) > 0.8 * len(named(strings))
    figure(
        "W5",
        f"checkpoints: {len(strings)} strings as labels, tokens and folder names, {len(made.shown)} of them found on a page",
        cases=len(strings),
        part="models",
    )


def hostile_run(folder, text, number):
    """A run in which every text, and half of the numbers, are the string."""
    folder.mkdir(parents=True)
    data = {"name": text, "task": text, "labels": [text], "rows": {text: text}}
    about = {"data": data if number % 5 else text, "counts": {"parameters": text if number % 2 else 7}, "start": {"from": text}}
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    settings = {"epochs": text if number % 3 else 2, "lr": text}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    good, bad = {"loss": 0.5, "accuracy": 0.5}, {"loss": text, "accuracy": text}
    lines = [{"kind": "start", "steps": text, "measured": text}]
    lines += [{"kind": "step", "step": 1, "epoch": 1, **(bad if number % 2 else good), "per_second": text}]
    for epoch in (1, 2, 3):
        figures = bad if epoch == 3 else good
        lines.append({"kind": "epoch", "epoch": epoch, "step": epoch, "train": figures, "validation": figures, "seconds": text})
    lines.append({"kind": "epoch", "epoch": text, "step": text, "train": text, "validation": [text], "seconds": [text]})
    if number % 2:
        best = {"epoch": text, **bad} if number % 4 == 1 else text
        lines.append(
            {"kind": "end", "step": text, "epochs": text, "best": best, "test": text if number % 3 else {"accuracy": text}}
        )
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    log = folder.parent / ".lab" / f"{folder.name}.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(f"\n$ glassformer train\nglassformer: {text}\n", encoding="utf-8", errors="replace")


def data_file(path, strings):
    """Texts and labels that are the strings, enough of each for three parts."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for _ in range(12):
            writer.writerows([text.replace("\0", "?") or "x", text.replace("\0", "?").strip() or "x"] for text in strings)
    return path


@pytest.mark.parametrize("strings", [FEWEST, pytest.param(STRINGS, marks=ALL)], ids=["few", "all"])
def test_run_folders_and_data_are_shown_as_text(browser, lab_with, tmp_path, strings, figure):
    runs = tmp_path / "runs"
    for number, text in enumerate(strings):
        hostile_run(runs / f"run-{number}", text, number)
    names = named(strings)
    files = [data_file(tmp_path / f"{number}.csv", batch) for number, batch in enumerate(batches(names, 6))]
    others = [data_file(tmp_path / f"{one}.csv", ["a", "b"]) for one in names[::3]]
    data_options = f"&text={quoted('text')}&label={quoted('label')}"
    with lab_with(runs=runs, data=[*files, *others]) as lab, canary(browser, lab.address, base_url=lab.address) as made:
        page = made.new_page()
        page.goto(lab.at("/train"))
        page.wait_for_selector("tr[data-run]")
        settle(page)
        made.look(page, strings, about="the table of runs")
        for places in batches(range(len(strings)), 12):
            page.goto("/train?" + "&".join(f"run=run-{place}" for place in places))
            page.wait_for_selector(f".standing[data-run=run-{places[-1]}][data-state]:not([data-state=unknown])")
            page.locator(".curves canvas").first.wait_for()
            settle(page)
            made.look(page, [strings[place] for place in places], about=f"runs {places[0]} on")
        for file in files:
            page.goto(f"/train?run=none&data={quoted(str(file))}{data_options}")
            page.wait_for_selector(".train")
            settle(page)
            made.look(page, names, about=f"data {Path(file).name}")
    assert len(made.shown) > 0.8 * len(names)
    figure(
        "W5",
        f"run folders and data: {len(strings)} strings as names, labels, rows, logged metrics and final messages, "
        f"{len(made.shown)} of them found on a page",
        cases=len(strings),
        part="runs",
    )
