"""Figures: matplotlib, imported only when a picture is drawn, with plain text, saved as PNG or SVG."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import not_written
from glassformer.show.colours import DIVERGING, LINES, SEQUENTIAL

Figure: TypeAlias = Any  # matplotlib's; Any, since matplotlib may not be there
Axes: TypeAlias = Any
Draw = TypeVar("Draw", bound=Callable[..., Any])

FORMATS = ("png", "svg")
DPI = 160
# Fonts for most scripts, if installed; DejaVu comes with matplotlib.
FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans CJK SC",
    "Noto Emoji",
)

SETTINGS: dict[Any, Any] = {
    "text.parse_math": False,  # a token `$x_1$` is shown as it is
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.edgecolor": LINES.quiet,
    "axes.labelcolor": LINES.ink,
    "xtick.color": LINES.ink,
    "ytick.color": LINES.ink,
    "text.color": LINES.ink,
    "legend.frameon": False,
    "svg.hashsalt": "glassformer",  # so that the same picture gives the same file
}


@contextmanager
def drawing() -> Iterator[None]:
    """Apply our settings, without warnings for missing glyphs, which are drawn as boxes."""
    try:
        import matplotlib
        from matplotlib import font_manager
    except ImportError:
        raise GlassformerError("pictures need matplotlib: pip install 'glassformer[plots]'.") from None
    installed = {font.name for font in font_manager.fontManager.ttflist}
    fonts = {"font.family": [font for font in FONTS if font in installed] or ["sans-serif"]}
    with matplotlib.rc_context(SETTINGS | fonts), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def drawn(draw: Draw) -> Draw:
    """Decorate a function to draw with our settings."""

    @wraps(draw)
    def inside(*arguments: Any, **options: Any) -> Any:
        with drawing():
            return draw(*arguments, **options)

    return inside  # type: ignore[return-value]


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """An empty figure of a size in inches, without a window or global state."""
    from matplotlib.figure import Figure as MatplotlibFigure

    return MatplotlibFigure(figsize=(width, height), **options)


def colour_map(kind: str) -> Any:
    """`weights` (one hue, for 0 to 1) or `signed` (blue, white, orange)."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = {"weights": SEQUENTIAL, "signed": DIVERGING}[kind]
    return LinearSegmentedColormap.from_list(kind, stops)


def figures(value: float, digits: int = 4) -> str:
    """A number for a label: significant figures, a proper minus, no powers of ten where plain digits are short."""
    if abs(value) < 1e-12:
        return "0"
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < 1e7:
        text = f"{float(text):,.0f}"
    return text.replace("-", "−")


def check_format(path: str | Path, formats: tuple[str, ...] = FORMATS) -> str:
    """Return the format of a file name, checked before anything is computed."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in formats:
        known = ", ".join(f".{name}" for name in formats)
        raise GlassformerError(f"a picture cannot be written as '{shown(Path(path).name)}': the name must end in one of {known}.")
    return form


def save_picture(figure: Figure, path: str | Path) -> Path:
    """Write a figure as PNG or SVG, by the ending of the name."""
    form, path = check_format(path), Path(path)
    stamp = {"Date": None} if form == "svg" else {"Software": None}
    with drawing(), writing(path):
        figure.savefig(path, format=form, dpi=DPI, bbox_inches="tight", pad_inches=0.12, facecolor="white", metadata=stamp)
    return path


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert errors of the file system to one line."""
    try:
        yield
    except OSError as error:
        raise not_written(path, error) from None
