"""What all tests share: a browser, what they measure and do, and the same examples every time where CI is set."""

import os

from hypothesis import settings

pytest_plugins = ("figures", "audit", "chromium")  # what a test measured, what the whole suite was seen to do, a real browser

# A deadline measures the machine and its other guests, not the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI", "").lower() not in ("", "0", "false") else "dev")
