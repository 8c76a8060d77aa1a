"""Glassformer: a Transformer encoder with glass walls."""
