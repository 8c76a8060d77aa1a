"""How hypothesis behaves: the same examples every time where CI is set, new ones elsewhere."""

import os

from hypothesis import settings

pytest_plugins = ("figures", "audit")  # what a test measured, and what the whole suite was seen to do

# A deadline measures the machine and its other guests, not the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI", "").lower() not in ("", "0", "false") else "dev")
