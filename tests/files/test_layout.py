"""The layout of a parameter in a file: reading returns what was written, and the origin of each number."""

import numpy as np

from glassformer.files.layout import Place, from_file, to_file


def test_a_patch_stored_pixel_by_pixel_is_read_channel_by_channel():
    # Two outputs; a patch of three pixels with two channels: the file has r g r g r g, the ledger r r r g g g.
    stored = np.array([["r0", "g0", "r1", "g1", "r2", "g2"], ["R0", "G0", "R1", "G1", "R2", "G2"]])
    place = Place("patch_embedding.weight", (2, 6), "transposed", channels=2)
    ours = from_file(stored, place, (6, 2))
    assert ours[:, 0].tolist() == ["r0", "r1", "r2", "g0", "g1", "g2"]
    assert ours[:, 1].tolist() == ["R0", "R1", "R2", "G0", "G1", "G2"]
    assert (to_file(ours, place) == stored).all()
