"""Operations of exercises that encoders do not have: other alignments, distributions and norms, masks, selections."""

from glassformer.numbers.by_hand.operations.distributions import Hardmax, RowSoftmax, Sigmoid, Sparsemax
from glassformer.numbers.by_hand.operations.heads import Concat, Inner, Pick, Row, Split
from glassformer.numbers.by_hand.operations.norms import Centre, Deviation, Spread
from glassformer.numbers.by_hand.operations.positions import PositionEntries, PositionTable, Turn
from glassformer.numbers.by_hand.operations.scores import Cosine, Divide, Hide

__all__ = [
    "Centre",
    "Concat",
    "Cosine",
    "Deviation",
    "Divide",
    "Hardmax",
    "Hide",
    "Inner",
    "Pick",
    "PositionEntries",
    "PositionTable",
    "Row",
    "RowSoftmax",
    "Sigmoid",
    "Sparsemax",
    "Split",
    "Spread",
    "Turn",
]
