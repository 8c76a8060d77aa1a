"""A small encoder-decoder translates number words: English to French, from 0 to 9,999.

python recipes/number_words.py    # weights in build/recipes/number_words/run/best; lab/models/numbers is a copy

French is written in the traditional spelling: hyphens join tens and units, unless "et" does; everything else has spaces.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from recipe import Recipe, main

import glassformer as gf
from glassformer.show.curves import curves_figure, curves_table
from glassformer.show.terminal import show_on_terminal

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen".split()
)
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
UNS = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize".split()
DIZAINES = "zéro dix vingt trente quarante cinquante soixante".split()
LARGEST = 9999
SHOWN = 92  # the number of the tour: never in training


def english(number: int) -> str:
    """Return the English words, with a British "and" before the last two digits: 321, three hundred and twenty-one."""
    if number < 20:
        return ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{TENS[tens]}-{ONES[ones]}" if ones else TENS[tens]
    large, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    many, rest = divmod(number, large)
    link = " and " if rest < 100 else " "
    return f"{english(many)} {name}" + (f"{link}{english(rest)}" if rest else "")


def french(number: int) -> str:
    """Return the French words: vingt et un, quatre-vingts, quatre-vingt-un, deux cents, deux cent un, mille."""
    if number < 17:
        return UNS[number]
    if number < 100:
        return _dizaines(number)
    large, name = (1000, "mille") if number >= 1000 else (100, "cent")
    many, rest = divmod(number, large)
    plural = "s" if name == "cent" and many > 1 and not rest else ""
    words = [french(many)] if many > 1 else []
    return " ".join([*words, name + plural, *([french(rest)] if rest else [])])


def _dizaines(number: int) -> str:
    """Return 17 to 99: 70 is sixty and ten, 80 four twenties, 90 four twenties and ten."""
    if number >= 80:
        return f"quatre-vingt-{french(number - 80)}" if number > 80 else "quatre-vingts"
    tens = 6 if number >= 60 else number // 10
    rest = number - 10 * tens
    if not rest:
        return DIZAINES[tens]
    return f"{DIZAINES[tens]} et {french(rest)}" if rest in (1, 11) and tens > 1 else f"{DIZAINES[tens]}-{french(rest)}"


def split(chance: random.Random, tested: int) -> dict[str, list[int]]:
    """Return all numbers in three groups; 0, the only number with the word zero, is in training, and 92 is tested."""
    numbers = [number for number in range(1, LARGEST + 1) if number != SHOWN]
    chance.shuffle(numbers)
    test, validation, train = numbers[: tested - 1], numbers[tested - 1 : tested + 499], numbers[tested + 499 :]
    return {"test": [SHOWN, *test], "validation": validation, "train": [0, *train]}


def written(folder: Path, groups: dict[str, list[int]]) -> Path:
    """Write each group as a table of a folder."""
    folder.mkdir()
    for name, numbers in groups.items():
        rows = "".join(f"{english(number)}\t{french(number)}\n" for number in numbers)
        (folder / f"{name}.tsv").write_text(f"en\tfr\n{rows}", encoding="utf-8")
    return folder


def cook(recipe: Recipe) -> dict[str, Any]:
    groups = split(random.Random(recipe.seed), 1000)
    data = written(recipe.fresh("numbers"), groups)
    fields = {"d_model": 48, "heads": 1, "d_ff": 96, "layers": 1, "norm": "post", "dropout": 0.1, "positions": 32}
    settings: dict[str, Any] = {"epochs": 4 if recipe.small else 8, "lr": 5e-3, "vocab": 400, "batch_tokens": 2048}
    fixed = {"text": "en", "target": "fr", "max_length": 32, "seed": recipe.seed, "threads": 1}
    run = gf.train(data, fields=fields, out=recipe.fresh("run"), **fixed, **settings)
    show_on_terminal(curves_table(run.curves))
    recipe.picture(curves_figure(run.curves))
    model = run.folder / "best"
    found = gf.translate(model, [english(number) for number in groups["test"]]).texts
    true = [french(number) for number in groups["test"]]
    wrong = [
        (english(number), one, right) for number, one, right in zip(groups["test"], found, true, strict=True) if one != right
    ]
    recipe.table(f"{len(wrong)} of {len(true)} wrong", ("source", "translation", "correct"), wrong[:8])
    exact = 1 - len(wrong) / len(true)
    recipe.band("numbers never trained on, translated exactly", exact, 0.6 if recipe.small else 0.98)
    return {"exact": exact, "parameters": run.run.about["counts"]["parameters"], "settings": settings | fields}


if __name__ == "__main__":
    main("number_words", __doc__, cook)
