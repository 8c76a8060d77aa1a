"""A small encoder-decoder learns to translate: adjective and noun change places, and cross-attention shows it; or real sentences.

python recipes/translate.py
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from recipe import Recipe, main

import glassformer as gf
from glassformer.show.curves import curves_figure, curves_table
from glassformer.show.terminal import show_on_terminal
from glassformer.training.data import load_data

ADJECTIVES = "red rouge,blue bleu,green vert,old vieux,new neuf,big grand,small petit,young jeune,black noir,white blanc".split(
    ","
)
NOUNS = "cat chat,dog chien,house maison,car auto,tree arbre,sun soleil,moon lune,book livre,road route,king roi".split(",")
VERBS = "sees voit,likes aime,wants veut,finds trouve".split(",")


def sentences() -> list[tuple[str, str]]:
    """Return phrases of two kinds with their translations: `the red cat`, `the cat sees the dog`."""
    words = [[word.split() for word in kind] for kind in (ADJECTIVES, NOUNS, VERBS)]
    adjectives, nouns, verbs = words
    found = [(f"the {one} {other}", f"le {autre} {un}") for (one, un), (other, autre) in product(adjectives, nouns)]
    for (one, un), (verb, verbe), (other, autre) in product(nouns, verbs, nouns):
        found.append((f"the {one} {verb} the {other}", f"le {un} {verbe} le {autre}"))
    return found


def written(path: Path) -> Path:
    """Write the phrases as a table."""
    path.write_text("en\tfr\n" + "".join(f"{one}\t{other}\n" for one, other in sentences()), encoding="utf-8")
    return path


def cook(recipe: Recipe) -> dict[str, Any]:
    if recipe.small:
        data: str | Path = written(recipe.out / "phrases.tsv")
        fields = {"d_model": 32, "heads": 2, "layers": 1, "dropout": 0.0}
        settings: dict[str, Any] = {"epochs": 40, "lr": 5e-3, "vocab": 400, "batch_tokens": 600, "label_smoothing": 0.0}
    else:
        data = "translation-en-fr"
        fields = {"d_model": 64, "heads": 4, "layers": 1, "d_ff": 256, "dropout": 0.1}
        settings = {"epochs": 3, "lr": 4e-3, "vocab": 2000, "batch_tokens": 1024, "average": 3}
    target = {"text": "en", "target": "fr"} if recipe.small else {}
    fixed = {"max_length": 48, "seed": recipe.seed, "threads": 1}
    run = gf.train(data, fields=fields, out=recipe.fresh("run"), **target, **fixed, **settings)
    show_on_terminal(curves_table(run.curves))
    recipe.picture(curves_figure(run.curves))
    rows = load_data(**run.run.about["data"]["source"]).test
    found = gf.translate(run.folder, rows.inputs, alignment=True, max_new_tokens=48)
    exact = sum(one == true for one, true in zip(found.texts, rows.targets or (), strict=True)) / len(rows)
    shown = list(zip(rows.inputs, found.texts, rows.targets or (), strict=True))[:8]
    recipe.table("Test sentences", ("source", "translation", "reference"), shown)
    looks = [(look.target, look.source, f"{look.weight:.2f}") for look in found[0].alignment.looks]
    recipe.table(f"Where the decoder looked: {rows.inputs[0]}", ("written", "looked at", "weight"), looks)
    test = run.metrics["test"]
    if recipe.small:
        recipe.band("test phrases translated exactly", exact, 0.6)
    else:
        recipe.band("test perplexity", test["perplexity"], 1.0, 20.0)
    return {
        "test": test,
        "exact": exact,
        "parameters": run.run.about["counts"]["parameters"],
        "settings": settings,
        "fields": fields,
    }


if __name__ == "__main__":
    main("translate", __doc__, cook)
