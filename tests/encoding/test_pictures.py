"""Pictures on the command line: files and folders, scaled as the model was trained, refused in one line."""

import json

import numpy as np
import pytest
from tiny_models import Case, guest, model_of, save

import glassformer as gf
from glassformer.cli.model import predict
from glassformer.encoding.pictures import SETTINGS, Reading, pictures_in, reading_of
from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec

VIT = EncoderSpec(d_model=8, heads=2, layers=1, image=8, patch=4, channels=3, head="classify", classes=2)


@pytest.fixture
def pictures(tmp_path):
    Image = guest("PIL.Image")
    folder = tmp_path / "photos"
    (folder / "b").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name, shape in (("2.png", (8, 8, 3)), ("b/1.png", (8, 8, 3)), ("grey.png", (8, 8)), ("wide.png", (4, 16, 3))):
        Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(folder / name)
    (folder / "notes.txt").write_text("no picture", encoding="utf-8")
    return folder


def test_a_folder_is_all_pictures_below_it_in_the_order_of_their_names(pictures):
    assert [str(path.relative_to(pictures)) for path in pictures_in(pictures)] == ["2.png", "b/1.png", "grey.png", "wide.png"]
    assert pictures_in(pictures / "2.png") == [pictures / "2.png"]


def test_pixels_are_scaled_as_the_settings_of_the_folder_say(pictures, tmp_path):
    Image = guest("PIL.Image")
    raw = np.asarray(Image.open(pictures / "2.png")).transpose(2, 0, 1) / 255
    here = reading_of(VIT, tmp_path)
    assert here == Reading((3, 8, 8))
    assert here.pixels(pictures_in(pictures)).shape == (4, 3, 8, 8)  # grey ones in three channels, wide ones resized
    assert here.pixels([pictures / "2.png"])[0] == pytest.approx(raw * 2 - 1, abs=1e-6)
    (tmp_path / SETTINGS).write_text('{"image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.25, 2]}', encoding="utf-8")
    scaled = (raw - np.array([0.1, 0.2, 0.3])[:, None, None]) / np.array([0.5, 0.25, 2])[:, None, None]
    assert reading_of(VIT, tmp_path).pixels([pictures / "2.png"])[0] == pytest.approx(scaled, abs=1e-5)
    (tmp_path / SETTINGS).write_text('{"do_normalize": false}', encoding="utf-8")
    assert reading_of(VIT, tmp_path).pixels([pictures / "2.png"])[0] == pytest.approx(raw, abs=1e-6)


@pytest.mark.parametrize("settings", ['{"image_mean": [0, "a", 1]}', '{"image_std": [1, 0, 1]}', '{"image_mean": [1, 2]}'])
def test_invalid_settings_are_refused(tmp_path, settings):
    (tmp_path / SETTINGS).write_text(settings, encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"preprocessor_config\.json: image_.* is not a number for each of 3 channels"):
        reading_of(VIT, tmp_path)


def test_colour_for_a_grey_encoder_texts_and_empty_folders_are_refused(pictures, tmp_path):
    with pytest.raises(GlassformerError, match=r"2\.png is a colour image, but this encoder reads greyscale"):
        reading_of(VIT.replace(channels=1), tmp_path).pixels([pictures / "2.png"])
    with pytest.raises(GlassformerError, match="this encoder reads tokens, not images: give texts"):
        reading_of(gf.spec("bert-tiny"), tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(GlassformerError, match=r"contains no image \(\.png, "):
        pictures_in(tmp_path / "empty")


def test_predict_gives_each_file_the_prediction_for_its_pixels(pictures, tmp_path):
    from click.testing import CliRunner

    folder = save(model_of(Case("vit", "ViTForImageClassification")), tmp_path / "vit")
    done = CliRunner().invoke(predict, [str(folder), "--images", str(pictures)])
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    model = gf.load(folder)
    said = model.predict(reading_of(model.spec, folder).pixels(pictures_in(pictures)))
    assert [row["file"] for row in rows] == [str(path) for path in pictures_in(pictures)]
    assert [row["probabilities"] for row in rows] == [pytest.approx(one.values) for one in said]


def test_a_picture_is_traced_and_its_logits_are_those_of_the_model(pictures, tmp_path):
    from click.testing import CliRunner

    from glassformer.cli.numbers import explain

    folder = save(model_of(Case("vit", "ViTForImageClassification")), tmp_path / "vit")
    picture = pictures / "2.png"
    done = CliRunner().invoke(explain, [str(folder), "head.logits", "class=1", "--picture", str(picture), "--json"])
    assert done.exit_code == 0
    pixels = reading_of(gf.spec(folder), folder).pixels([picture])
    logits = gf.load(folder, dtype="float64")(torch_of(pixels)).logits.detach()
    assert json.loads(done.stdout)["value"] == pytest.approx(float(logits[0, 1]), rel=1e-9)
    assert gf.run(folder, picture=pixels[0])["head.logits"][0, 1] == pytest.approx(float(logits[0, 1]), rel=1e-9)
    with pytest.raises(GlassformerError, match=r"this encoder reads images: give picture \(--picture FILE\), and no other input"):
        gf.run(folder, text="a wall")
    with pytest.raises(GlassformerError, match="picture needs a checkpoint that reads images"):
        gf.run("layer", picture=pixels[0])


def torch_of(pixels):
    import torch

    return torch.from_numpy(pixels).double()
