"""A look into data: the rows that are shown tell its classes apart."""

from glassformer.training.data import load_data
from glassformer.training.data.description import describe


def test_a_folder_for_each_class_shows_every_class(tmp_path):
    for name in ("cold", "dry", "wet"):
        (tmp_path / name).mkdir()
        for number in range(12):
            (tmp_path / name / f"{number:02}.txt").write_text(f"{name} day number {number}", encoding="utf-8")
    data = load_data(str(tmp_path))
    assert [label for _, label in describe(data, rows=5).sample] == ["cold", "dry", "wet", "cold", "dry"]
    assert [label for _, label in describe(data, rows=1).sample] == ["cold"]


def test_mixed_rows_are_shown_from_the_first_on():
    data = load_data("digits")
    shown = describe(data, rows=5).sample
    assert [label for _, label in shown] == [data.labels[target] for target in data.train.targets[:5]]
