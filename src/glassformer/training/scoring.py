"""BLEU and chrF of translations, computed by the package sacrebleu, whose signatures say how."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError

HINT = "BLEU and chrF need the package sacrebleu: pip install 'glassformer[translate]'."


class Scores(NamedTuple):
    """BLEU (Papineni et al. 2002) and chrF (Popović 2015), in percent, with the signatures of sacrebleu (Post 2018)."""

    bleu: float
    chrf: float
    signatures: dict[str, str]

    def __str__(self) -> str:
        return f"BLEU {self.bleu:.1f} ({self.signatures['bleu']}), chrF {self.chrf:.1f} ({self.signatures['chrf']})"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict()


def available() -> bool:
    """Return whether sacrebleu is installed."""
    return find_spec("sacrebleu") is not None


class Resampled(NamedTuple):
    """One score in percent, and the mean and half the width of the 95% interval of its bootstrap over the rows."""

    value: float
    mean: float
    reach: float
    signature: str


def scores(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Return the scores of translations, each with one reference."""
    metrics = _metrics()
    found = {name: float(one.corpus_score(list(translations), [list(references)]).score) for name, one in metrics.items()}
    return Scores(**found, signatures={name: str(one.get_signature()) for name, one in metrics.items()})


def resampled(translations: Sequence[str], references: Sequence[str], resamples: int) -> dict[str, Resampled]:
    """Return BLEU and chrF with the bootstrap of sacrebleu, whose signatures then name the number of resamples and the seed."""
    return {name: _resampled(one, list(translations), list(references), resamples) for name, one in _metrics().items()}


def _resampled(metric: Any, translations: list[str], references: list[str], resamples: int) -> Resampled:
    found = metric.corpus_score(translations, [references], n_bootstrap=resamples)
    signature = str(metric.get_signature())
    told = json.loads(found.format(width=4, is_json=True, signature=signature))
    mean, reach = told.get("confidence_mean", found.score), told.get("confidence_var", 0.0)  # absent where every score is 0
    return Resampled(float(found.score), float(mean), float(reach), signature)


def row_scores(translations: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return chrF of each row alone, in percent."""
    metric = _metrics()["chrf"]
    return [float(metric.sentence_score(one, [true]).score) for one, true in zip(translations, references, strict=True)]


def _metrics() -> dict[str, Any]:
    try:
        import sacrebleu
    except ImportError:
        raise GlassformerError(HINT) from None
    return {"bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF()}
