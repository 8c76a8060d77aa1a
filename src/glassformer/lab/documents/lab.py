"""What every page is told first."""

from __future__ import annotations

from typing import TypedDict

# Which lab this is, what it was started with, and the page that shows that.
Known = TypedDict("Known", {"version": str, "given": str, "folders": list[str], "address": str})
