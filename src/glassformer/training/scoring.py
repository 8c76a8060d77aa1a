"""BLEU and chrF of translations, computed by the package sacrebleu, whose signatures say how."""

from __future__ import annotations

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


def scores(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Return the scores of translations, each with one reference."""
    try:
        import sacrebleu
    except ImportError:
        raise GlassformerError(HINT) from None
    metrics: dict[str, Any] = {"bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF()}
    found = {name: float(one.corpus_score(list(translations), [list(references)]).score) for name, one in metrics.items()}
    return Scores(**found, signatures={name: str(one.get_signature()) for name, one in metrics.items()})
