"""Configuration of Sphinx: ``make docs`` builds the site in docs/_build/html."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for docs.site_parts

from semisquares import __version__

project = "semisquares"
author = "the semisquares developers"
copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "docs.site_parts",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py"]

# -- pages: Markdown that also reads well unrendered ----------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# -- the reference: signatures without types, which the docstrings state --------------------------
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False  # the template of a class lists its members
default_role = "code"  # `coef_` in a docstring
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|dask)\..*"),  # other people's pages
]

# -- the gallery ----------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "api/used_in",
    "doc_module": ("semisquares",),
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "docs.site_parts.warnings_are_errors"),
    "reset_modules_order": "both",
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

# -- style: the site loads nothing from the network -----------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "semisquares"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "semisquares"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
ALONE = (
    "index", "changelog", "choosing", "faq", "reproduction", "scale", "security", "stability",
)  # fmt: skip
html_sidebars = {page: [] for page in ALONE}  # pages without neighbours
