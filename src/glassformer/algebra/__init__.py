"""What can be derived without running the model? Parameters, shapes, cost and equations."""

from glassformer.algebra.bridge import Bridge, bridge
from glassformer.algebra.cost import Cost, cost, largest_batch, parse_bytes
from glassformer.algebra.decoding import Decoding, decoding, longest_context
from glassformer.algebra.ledger import Count, count, ledger
from glassformer.algebra.notation import Notation, notation
from glassformer.algebra.result import Result
from glassformer.algebra.shapes import Shapes, shapes

__all__ = [
    "Bridge",
    "Cost",
    "Count",
    "Decoding",
    "Notation",
    "Result",
    "Shapes",
    "bridge",
    "cost",
    "count",
    "decoding",
    "largest_batch",
    "ledger",
    "longest_context",
    "notation",
    "parse_bytes",
    "shapes",
]
