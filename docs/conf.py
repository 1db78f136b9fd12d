"""How Sphinx builds the site: ``make docs``. Nothing is loaded from elsewhere, now or later."""

import re
import sys
from operator import itemgetter
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "extensions"), str(DOCS.parent)]

import matplotlib as mpl
import public_names
from jupyter_client import KernelManager

import jointwise

mpl.use("Agg")
if hasattr(KernelManager, "transport_encryption"):  # without it, the kernels of notebooks warn
    KernelManager.transport_encryption.default_value = "auto"

project = "jointwise"
author = "The jointwise authors"
copyright = f"2026, {author}"
version = release = jointwise.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "generated_text",
    "mathml",
]
exclude_patterns = [
    "_build",
    "front_page",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/*.zip",
]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

html_theme = "furo"
html_title = f"jointwise {version}"
html_static_path = ["_static", "_build/live"]  # the second by tools/front_page.py
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "default"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The page of every public name is written from the stubs; see ``public_names``.
(DOCS / "reference" / "api.rst").write_text(public_names.page(), encoding="utf-8")
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# Names of type aliases in signatures. Without them, Sphinx writes out NumPy's private unions.
A_TARGET = "ArrayLike | RigidTransform | Target"
BY_LINK = f"Mapping[str, {A_TARGET}]"
autodoc_type_aliases = {
    **{name: name for name in ("ArrayLike", "DTypeLike")},
    **dict.fromkeys(("Floats", "Bools", "Ints"), "ndarray"),
    "JointValues": "ArrayLike | Mapping[str, float]",
    **dict.fromkeys(("Pose", "AnyTarget"), A_TARGET),
    "AnyTargets": f"{A_TARGET} | Sequence[{A_TARGET}]",
    "ModelTarget": f"{A_TARGET} | {BY_LINK}",
    **dict.fromkeys(("ModelTargets", "PlanTarget"), f"{A_TARGET} | {BY_LINK} | Sequence"),
}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
maximum_signature_line_length = 80
# Names of other libraries have no page here, nor have private types.
PRIVATE = r"jointwise\.(engines|kernels|model|problem|results|scene|shape|targets|verbs|view)\..*"
nitpick_ignore_regex = [(r"py:.*", r"(?!jointwise\.).*"), (r"py:.*", PRIVATE)]

sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "write_computation_times": False,
}


def underline_title(app, docname, source):
    """The first line of an example's docstring is its title, without the underline of reST."""
    if docname.startswith("gallery/") and (match := re.search(r"\n\n([^\s.:].*)\.\n\n", source[0])):
        title = match[1]
        source[0] = source[0].replace(match[0], f"\n\n{title}\n{'=' * len(title)}\n\n", 1)


def skip_field_aliases(app, what, name, obj, skip, options):
    """Fields of tuples and slots are described with the class."""
    fields = ("_tuplegetter", "member_descriptor")
    is_item = isinstance(obj, property) and obj.__doc__ == itemgetter.__doc__
    return True if is_item or type(obj).__name__ in fields else None


def hide_constructor(app, what, name, obj, options, signature, returns):
    """Classes with private parameters are not constructed by users."""
    is_private = what == "class" and re.search(r"[(,] ?_[a-z]", signature or "")
    return ("", returns) if is_private else None


def setup(app):
    """Connect the functions above."""
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("source-read", underline_title)
    app.connect("autodoc-skip-member", skip_field_aliases)
