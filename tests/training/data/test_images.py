"""Images: the same pixels in memory or from the disk, and every way a file can be wrong, named."""

import builtins
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from glassformer.errors import GlassformerError
from glassformer.training.data import images, load_data
from glassformer.training.data.images import decode


def png(array, **more):
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "PNG", **more)
    return stream.getvalue()


def noise(seed, *shape):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@pytest.fixture
def photos(tmp_path):
    home = tmp_path / "photos"
    for label in ("cat", "dog"):
        (home / label).mkdir(parents=True)
        for i in range(20):
            (home / label / f"{i}.png").write_bytes(png(noise(ord(label[0]) * 100 + i, 6, 5)))
    return home


def bomb():
    """A PNG that declares 60,000 × 60,000 pixels in a hundred bytes."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


def test_a_folder_of_images_is_read(photos):
    data = load_data(photos)
    assert (data.task, data.labels) == ("image", ("cat", "dog"))
    assert (len(data.train), len(data.validation), len(data.test)) == (32, 4, 4)
    assert data.train.inputs.shape == (1, 6, 5)
    found = {image.tobytes() for part in data.parts for image in data.part(part).inputs}
    assert found == {noise(ord(label[0]) * 100 + i, 6, 5).tobytes() for label in ("cat", "dog") for i in range(20)}


def test_pixels_from_the_disk_are_those_in_memory(photos, monkeypatch):
    kept = load_data(photos)
    monkeypatch.setattr(images, "MOST_KEPT", 100)
    lazy = load_data(photos)
    assert kept.train.inputs.pixels is not None and lazy.train.inputs.pixels is None
    assert (kept.train.inputs.take([3, 1, 3]) == lazy.train.inputs.take([3, 1, 3])).all()
    assert (lazy.train.inputs[-1] == kept.train.inputs[-1]).all()
    assert (lazy.train.inputs[1:3].take([1]) == kept.train.inputs[2]).all()
    assert kept.fingerprint == lazy.fingerprint
    lazy.train.inputs.files[0].write_bytes(png(noise(9, 6, 5)))
    with pytest.raises(GlassformerError, match=r"has changed since the data was loaded. Load it again."):
        lazy.train.inputs.take([0])


def test_names_do_not_decide_the_split(photos):
    before = load_data(photos)
    (photos / "cat" / "0.png").rename(photos / "cat" / "zzz.png")
    after = load_data(photos)
    assert {image.tobytes() for image in before.test.inputs} == {image.tobytes() for image in after.test.inputs}


def test_grey_among_colours_becomes_colour(photos):
    (photos / "dog" / "0.png").write_bytes(png(noise(1, 6, 5, 3)))
    data = load_data(photos)
    assert data.train.inputs.shape == (3, 6, 5)


def test_transparency_becomes_white_and_orientation_is_applied():
    clear = np.zeros((2, 2, 4), dtype=np.uint8)
    clear[0, 0] = (10, 20, 30, 255)
    assert decode(png(clear), "x", None).tolist() == [[[10, 20, 30], [255] * 3], [[255] * 3, [255] * 3]]
    tags = Image.Exif()
    tags[0x0112] = 6  # turned by a quarter
    image = decode(png(np.array([[1, 2, 3]], dtype=np.uint8), exif=tags), "x", None)
    assert image.tolist() == [[1], [2], [3]]


def test_mixed_sizes_are_named_and_resized_only_when_asked(photos):
    (photos / "dog" / "7.png").write_bytes(png(noise(1, 8, 9)))
    with pytest.raises(GlassformerError) as error:
        load_data(photos)
    assert (
        "photos mixes 2 image sizes: cat/0.png is 6×5, dog/7.png is 8×9 (height × width). resize=6 (--resize 6) resizes them."
        in str(error.value)
    )
    assert load_data(photos, resize=4).train.inputs.shape == (1, 4, 4)
    assert load_data(photos, resize=(4, 7)).train.inputs.shape == (1, 4, 7)


BAD = [
    (png(noise(0, 60, 50))[:-900], "dog/3.png is damaged: "),
    (b"GIF? no", "dog/3.png is not a readable image (PNG, JPEG, GIF, BMP, WEBP, TIFF)."),
    (b"", "dog/3.png is not a readable image"),
    (bomb(), "dog/3.png declares more than 64,000,000 pixels: it was not decoded."),
    (
        png(np.full((6, 5), 40_000, dtype=np.uint16)),
        "dog/3.png has more than 8 bits per channel (mode I;16): save it with 8 bits.",
    ),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=["truncated", "no image", "empty", "bomb", "16 bits"])
def test_a_bad_image_is_named_and_refused_or_skipped(photos, data, message):
    (photos / "dog" / "3.png").write_bytes(data)
    with pytest.raises(GlassformerError) as error:
        load_data(photos)
    assert str(error.value).startswith(message)
    assert str(error.value).endswith("on_bad='skip' (--skip-bad) skips such rows.")
    found = load_data(photos, on_bad="skip")
    assert found.notes == ("skipped: images that cannot be read: 1 (first: dog/3.png)",)
    assert sum(len(found.part(part)) for part in found.parts) == 39


def test_a_file_too_large_to_be_an_image_is_not_read(photos, monkeypatch):
    monkeypatch.setattr(images, "MOST_FILE_BYTES", 60)
    with pytest.raises(GlassformerError, match=r"cat/0.png has .* bytes; an image has at most 60. It was not read."):
        load_data(photos)


def test_a_folder_of_bad_images_only_is_one_line(photos):
    for path in photos.rglob("*.png"):
        path.write_bytes(b"")
    with pytest.raises(GlassformerError, match=r"photos has no readable image."):
        load_data(photos, on_bad="skip")


def test_without_pillow_the_line_to_install_it_is_reported(photos, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "PIL":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(GlassformerError, match=r"^images need the package pillow: pip install pillow.$"):
        load_data(photos)


def test_given_parts_must_have_images_of_one_size(tmp_path, photos):
    home = tmp_path / "parts"
    home.mkdir()
    photos.rename(home / "train")
    for label in ("cat", "dog"):
        (home / "test" / label).mkdir(parents=True)
        (home / "test" / label / "x.png").write_bytes(png(noise(ord(label[0]), 7, 7)))
    with pytest.raises(GlassformerError, match=r"images of train are 6×5, of test 7×7 \(height × width\). resize=6 "):
        load_data(home)
    data = load_data(home, resize=6)
    assert (len(data.train), len(data.validation), len(data.test)) == (36, 4, 2)


@pytest.mark.parametrize("memory", [images.MOST_KEPT, 0])
def test_grey_images_among_colour_images_become_colour(tmp_path, photos, monkeypatch, memory):
    monkeypatch.setattr(images, "MOST_KEPT", memory)
    home = tmp_path / "parts"
    home.mkdir()
    photos.rename(home / "train")
    for label in ("cat", "dog"):
        (home / "test" / label).mkdir(parents=True)
        (home / "test" / label / "x.png").write_bytes(png(noise(ord(label[0]), 6, 5, 3)))
    data = load_data(home)
    assert {data.part(part).inputs.shape for part in data.parts} == {(3, 6, 5)}
    grey = data.train.inputs[0]
    assert grey.shape == (3, 6, 5) and (grey[0] == grey[1]).all() and (grey[0] == grey[2]).all()


def test_of_an_image_that_moves_the_first_picture_is_taken_and_said(photos):
    frames = [Image.fromarray(noise(i, 6, 5)) for i in range(3)]
    frames[0].save(photos / "cat" / "moving.gif", save_all=True, append_images=frames[1:])
    data = load_data(photos)
    assert data.notes == ("animated images reduced to their first frame: 1 (first: cat/moving.gif)",)
