"""Encoding files with a model: texts or images in, vectors or predictions out."""
