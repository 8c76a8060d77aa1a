"""The command `attribute` in Python: a number as a sum of contributions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import arguments
from glassformer.api.numbers import holds_weights, run
from glassformer.configs.reading import What
from glassformer.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.numbers import Checkpoint, Contributions
    from glassformer.numbers.contributions.quantities import Quantity
    from glassformer.numbers.contributions.rules import Activations, Depth, Norms, Patterns, Rules


def attribute(  # noqa: PLR0913 - one argument for each option of the command
    what: What,
    text: str | Sequence[str] | None = None,
    *,
    of: str | None = None,
    depth: Depth = "direct",
    norms: Norms = "held",
    patterns: Patterns = "held",
    activations: Activations = "secant",
    pool: str | None = None,
    target: str | None = None,
    as_class: str | None = None,
    seed: int | None = None,
    **fields: Any,
) -> Contributions:
    """Write one number as a sum of contributions: `gf.attribute("runs/topic-1", "Shares fell", of="class=Business")`.

    `of` is class=LABEL, token=WORD (of a masked-token head), similarity (with two texts), or a name with the indices of a
    cell; without it, the class that the model predicts, or the most probable next token. `against=LABEL` in it subtracts
    another logit. `target` is the decoder input of an encoder-decoder; token=WORD then refers to the token after it.
    """
    from glassformer.numbers import Rules, open_checkpoint
    from glassformer.numbers.contributions.quantities import Quantity, attributed, usual

    rules = Rules(depth=depth, norms=norms, patterns=patterns, activations=activations)
    texts = [text] if isinstance(text, str) else [] if text is None else arguments.as_list(text)
    wanted = Quantity.of(of) if of is not None else None
    if len(texts) > 2 or (len(texts) == 2 and wanted is not None and wanted.kind != "similarity"):
        raise GlassformerError(f"{len(texts)} texts are given: give one text, or two for similarity.")
    if not (isinstance(what, str | Path) and holds_weights(what)):
        if len(texts) == 2 or (wanted is not None and wanted.kind == "similarity"):
            raise GlassformerError("similarity needs a model with weights: name a checkpoint folder.")
        found = run(what, text=texts[0] if texts else None, target=target, seed=seed, as_class=as_class, **fields)
        spec = found.program.spec
        labels = tuple(f"LABEL_{number}" for number in range(spec.classes))
        wanted = wanted or Quantity.of(usual(found, labels))
        return attributed(found, wanted, rules, labels=labels, token_id=lambda word: _number(word, spec.vocab))
    if fields or seed is not None:
        run(what, seed=seed, **fields)  # refuses them in one line
    return _of_checkpoint(open_checkpoint(what, as_class=as_class), texts, wanted, rules, pool, target)


def _of_checkpoint(
    checkpoint: Checkpoint, texts: list[Any], wanted: Quantity | None, rules: Rules, pool: str | None, target: str | None
) -> Contributions:
    from glassformer.model.sentences.settings import read_settings
    from glassformer.numbers.contributions.quantities import Quantity, attributed, similarity, usual
    from glassformer.numbers.seeded import require_target
    from glassformer.numbers.texts import token_named, vocabulary_of

    if not texts:
        raise GlassformerError("no input: give a text, --text … (two for similarity).")
    if len(texts) == 2 or (wanted is not None and wanted.kind == "similarity"):
        require_target(checkpoint.spec, source=True, target=target is not None)
        if checkpoint.spec.predicts_next:
            raise GlassformerError("similarity compares the vectors of two texts, and this model predicts tokens: give one text.")
        settings = read_settings(checkpoint.folder)
        if settings.obstacle and pool is None:
            raise GlassformerError(f"{settings.obstacle}. Give pool to compare the vectors before it.")
        chosen = arguments.one_of("pool", pool or settings.pool or "mean", ("mean", "first", "last", "max", "pooled"))
        lowered = [str(one).lower() if settings.lower else one for one in texts]
        found = checkpoint.run([f"{settings.prompt}{one}" for one in lowered])
        return similarity(found, chosen, rules)
    found = checkpoint.run(texts[0], target=target)
    if wanted is None:
        reads_text = checkpoint.spec.predicts_next
        named = partial(token_named, checkpoint.tokenizer) if reads_text else str
        wanted = Quantity.of(usual(found, checkpoint.labels, named))
    return attributed(found, wanted, rules, labels=checkpoint.labels, token_id=vocabulary_of(checkpoint.tokenizer))


def _number(word: str, vocab: int | None) -> int | None:
    """A token of a spec without a tokenizer, by its id."""
    word = word.removeprefix("#")
    if not (word.isdecimal() and len(word) < 10):
        raise GlassformerError(f"token={shown(word)} is not allowed: a spec has no tokenizer, so give the id of a token.")
    return int(word) if int(word) < (vocab or 0) else None
