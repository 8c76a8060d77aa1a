"""How Sphinx builds the site: Markdown through MyST, the theme Furo, nothing loaded from another machine."""

import glassformer

project = "Glassformer"
version = release = glassformer.__version__
copyright = "the Glassformer developers"
html_title = f"Glassformer {release}"

extensions = ["myst_parser"]
myst_heading_anchors = 3  # `page.md#a-heading` works as it does in the repository
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # a page opened as a file may not read other files
highlight_language = "text"
smartquotes = False  # `--option` and quotes stay as they were written
python_maximum_signature_line_length = 100
add_module_names = False
