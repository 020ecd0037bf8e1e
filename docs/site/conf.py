# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings; docs/site/build.py lays out the pages and leaves what only it knows in a file."""

import json
import sys
from pathlib import Path

_BUILD = Path(__file__).resolve().parents[2] / "build" / "docs"
_SETTINGS = json.loads((_BUILD / "settings.json").read_text())
sys.path.insert(0, str(_BUILD / "python"))

project = "tollbar"
author = "the contributors of tollbar"
copyright = "the contributors of tollbar, Apache-2.0"
version = release = _SETTINGS["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
smartquotes = False
default_role = "code"
highlight_language = "none"

myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
add_module_names = False

html_theme = "furo"
html_title = f"tollbar {version}"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["phone.css"]
html_show_sphinx = False

man_pages = [(name, title, about, author, section) for name, title, about, section in _SETTINGS.get("man_pages", [])]
man_show_urls = False
