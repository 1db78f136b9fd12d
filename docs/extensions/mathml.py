"""Formulas as MathML, which browsers draw without a script or a font of the site."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def convert(node, **options):
    """A formula in MathML; bars keep their size, also where they carry an exponent."""
    formula = tex2mathml(node.astext(), **options)
    return re.sub(r'<mo(?: class="\w+")?>\|</mo>', '<mo stretchy="false">|</mo>', formula)


def visit_inline(writer, node):
    """A formula in a line."""
    writer.body.append(convert(node))
    raise nodes.SkipNode


def visit_display(writer, node):
    """A formula on a line of its own."""
    writer.body.append(f'<div class="math">{convert(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
