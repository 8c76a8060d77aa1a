"""Small parallel and plain texts that tests of models that write share, and runs of a second on them."""

import glassformer as gf
from glassformer.training.data import load_data
from glassformer.training.fitting import tokenizer_for
from glassformer.training.runs import Run
from glassformer.training.settings import Settings

ADJECTIVES = "red blue green old new big small young".split()
NOUNS = "cat dog house car tree sun moon book".split()
FRENCH = dict(
    zip(
        [*ADJECTIVES, *NOUNS],
        "rouge bleu vert vieux neuf grand petit jeune chat chien maison auto arbre soleil lune livre".split(),
        strict=True,
    )
)
PAIRS = [(f"the {one} {other}", f"le {FRENCH[other]} {FRENCH[one]}") for one in ADJECTIVES for other in NOUNS]
SETTINGS = {"vocab": 320, "log_every": 1, "progress": False}
SIZES = {"d_model": 32, "heads": 2, "layers": 1, "d_ff": 64}


def table(path, pairs=PAIRS):
    """A table of pairs."""
    path.write_text("en\tfr\n" + "".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
    return path


def texts(path):
    """A file with a text on each line."""
    path.write_text("".join(f"{one} is {other}\n" for one, other in PAIRS), encoding="utf-8")
    return path


def translating(place, model="transformer", **settings):
    """A trained encoder-decoder."""
    data, out = table(place / "pairs.tsv"), settings.pop("out", "run")
    settings = {"epochs": 2, "batch_tokens": 200} | settings
    return gf.train(data, model, fields=SIZES, out=place / out, **SETTINGS | settings)


def continuing(place, model="gpt2 positions=32", **settings):
    """A trained decoder."""
    data, out = texts(place / "texts.txt"), settings.pop("out", "run")
    settings = {"epochs": 2, "batch_size": 8, "max_length": 32} | settings
    return gf.train(data, model, fields=SIZES, out=place / out, **SETTINGS | settings)


def written_run(task, path):
    """A run of a model that writes that was not started, and its data; see `tiny_training.tiny_run`."""
    kind = {"translate": "seq2seq", "causal": "decoder"}[task]
    file = (table if task == "translate" else texts)(path.parent.parent / f"{task}.{'tsv' if task == 'translate' else 'txt'}")
    rows = load_data(file, rows_for=kind)
    made = Settings(epochs=2, batch_size=12, lr=3e-3, log_every=1, save_every=3, vocab=300, average=2, max_length=31)
    tokenizer = tokenizer_for(rows, made)
    name = "transformer" if task == "translate" else "gpt2 positions=32"
    spec = gf.spec(f"{name} vocab={tokenizer.vocab}", d_model=16, heads=2, layers=1, d_ff=32)
    return Run.create(path, spec, made, tokenizer, rows, source={"what": str(file), "rows_for": kind}), rows
