"""Settings of the documentation site; ``make docs`` builds it."""

import os
from pathlib import Path

import fusedlr

project = "fusedlr"
author = "fusedlr developers"
copyright = "fusedlr developers"
version = release = fusedlr.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say them in words
numpydoc_show_class_members = False  # the template of a class lists its methods, each with a page

# Links into the manuals of other packages need the network: FUSEDLR_DOCS_LINKS=1 asks for them.
if os.environ.get("FUSEDLR_DOCS_LINKS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "statsmodels": ("https://www.statsmodels.org/stable", None),
    }

GALLERY = Path(__file__).with_name("gallery").glob("*.md")
html_theme = "pydata_sphinx_theme"
html_title = "fusedlr"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    # Code of the gallery is as wide as a page: no table of contents beside it.
    "secondary_sidebar_items": {"**": ["page-toc"], **{f"gallery/{page.stem}": [] for page in GALLERY}},
}
html_sidebars = {"index": [], "start": []}
