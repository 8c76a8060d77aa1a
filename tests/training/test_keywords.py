"""The typed keywords are the settings, no more and no fewer."""

from typing import Unpack, get_type_hints

from glassformer.training import entry_points, loggers
from glassformer.training.keywords import FreeSettings, GivenSettings, TrainKeywords
from glassformer.training.settings import FREE, Settings

SETTINGS = get_type_hints(Settings)


def test_every_setting_is_a_typed_keyword():
    assert get_type_hints(GivenSettings) == {name: kind for name, kind in SETTINGS.items() if name != "epochs"}
    assert get_type_hints(FreeSettings) == {name: SETTINGS[name] for name in FREE}


def test_the_other_keywords_are_those_of_the_function():
    import inspect

    known = vars(loggers)
    words = set(get_type_hints(TrainKeywords, localns=known)) - set(get_type_hints(GivenSettings))
    assert words == set(inspect.signature(entry_points.train).parameters) - {"data", "model", "epochs", "settings"}


def test_the_functions_take_them():
    known = {"GivenSettings": GivenSettings, "FreeSettings": FreeSettings, "Trained": object, "TrainedRuns": object}
    known |= vars(loggers)
    for function, keywords in ((entry_points.train, GivenSettings), (entry_points.resume, FreeSettings)):
        assert get_type_hints(function, localns=known)["settings"] == Unpack[keywords]
