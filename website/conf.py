"""Sphinx: where things are, and that no page asks another server for anything."""

import inspect
import os
import re
import unicodedata
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from sphinx.search.en import SearchEnglish

project = "pdsynth"
author = copyright = "The pdsynth authors"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
html_theme = "sphinx_book_theme"
html_title = "pdsynth"
html_static_path = [os.environ["PDSYNTH_SITE_STATIC"]]
html_css_files = ["live.css", "site.css"]
html_js_files = [(name, {"type": "module"}) for name in ("site.js", "guesses.js", "reach.js")]
html_theme_options = {"show_toc_level": 2, "use_download_button": False, "navbar_persistent": []}
html_context = {"default_mode": "auto"}
html_favicon = os.environ["PDSYNTH_SITE_STATIC"] + "/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
exclude_patterns = ["_static"]

nb_execution_mode = "off"  # lessons come with their outputs
nb_merge_streams = True
nb_render_markdown_format = "myst"  # tables, too
nb_ipywidgets_js = {}  # no widget manager from a network
# A panel's own page in place of its widget, which needs a kernel.
nb_mime_priority_overrides = [("*", "application/vnd.jupyter.widget-view+json", None)]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
myst_all_links_external = False

templates_path = [str(Path(__file__).with_name("templates"))]
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False}
autodoc_typehints = "description"
napoleon_google_docstring = True
# A name may be documented where it is defined and where it is offered.
suppress_warnings = ["myst.xref_missing", "autosummary", "ref.python", "toc.not_included"]
WRITTEN = {}  # docstrings by name, before Napoleon


def skip_values(app, what, name, thing, skip, options):
    """Of a class's attributes those that say what they are: parameters are listed already."""
    said = inspect.isroutine(thing) or isinstance(thing, (property, cached_property, type))
    return skip or (True if what in ("class", "attribute") and not said else None)


def spell_out(app, what, name, thing, options, lines):
    """Our docstrings in the form that Napoleon reads; |X| is a size, not a substitution."""
    lines[:] = WRITTEN[name] = spelt([line.replace("|", "\\|") for line in lines])


def restore(app, what, name, thing, options, lines):
    """What says what an attribute is: Napoleon takes the words before its colon for a type."""
    if what in ("attribute", "property"):
        lines[:] = WRITTEN[name]


def spelt(lines):
    """The lines of a docstring whose lists say ``name : what it is``, as numpydoc writes them.

    What it is goes below the name, where numpydoc has a type beside it. A paragraph below a list
    becomes a note: each of its lines would be a name.
    """
    found, listed = [], False
    for line, after in pairwise([*lines, ""]):
        name, said, text = line.partition(" : ")
        own = line and not line[0].isspace()
        if re.fullmatch("-{3,}", after):
            listed = True
        elif listed and own and said:
            found.append(name)
            line = f"    {text}"
        elif listed and own and not found[-1]:
            found += ["Notes", "-----"]
            listed = False
        found.append(line)
    return found


# The parts of MathJax that the lessons need, half as large as its bundle.
mathjax3_config = {"loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml"]}}
SYMBOL = re.compile(r"(?<=[^\W\d_])_\{?(\d)\}?")


def plain(text):
    """A text in which symbols are single words: L₀, L_0 and L_{0} are L0."""
    return SYMBOL.sub(r"\1", unicodedata.normalize("NFKC", text))


class English(SearchEnglish):
    """The search finds symbols with an index."""

    js_splitter_code = """
function splitQuery(query) {
  const plain = query.normalize("NFKC").replace(/(\\p{L})_\\{?(\\d)\\}?/gu, "$1$2");
  return plain.split(/[^\\p{Letter}\\p{Number}_]+/gu).filter((term) => term);
}
"""

    def split(self, text):
        """Words of a page, for its index."""
        return super().split(plain(text))


def setup(app):
    """Docstrings as they are; the extension that only copies MathJax may run beside others."""
    app.config.mathjax_path = "mathjax/startup.js"
    app.add_search_language(English)
    app.connect("autodoc-skip-member", skip_values)
    app.connect("autodoc-process-docstring", spell_out, priority=400)  # before Napoleon
    app.connect("autodoc-process-docstring", restore, priority=600)  # and after it
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
