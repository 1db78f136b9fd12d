"""Make ``docs/gallery.md`` of ``examples/04_pictures.py``: each cell, and the picture it draws."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
EXAMPLE = DOCS.parent / "examples" / "04_pictures.py"
HEAD = """# Gallery

What `jointwise.plot` draws (`pip install 'jointwise[plot]'`). Each picture stands below the code
that drew it, which is a part of [04_pictures.py](../examples/04_pictures.py); `make gallery` draws
them anew. All of it begins with

```python
{beginning}
```
"""
CELL = """
## {title}

{prose}

```python
{code}
```

![{title}](images/{picture})
"""


def page() -> str:
    """The text of the gallery."""
    beginning, *cells = EXAMPLE.read_text(encoding="utf-8").split("# %% ")
    text = HEAD.format(beginning=beginning.split('"""')[2].strip())
    for cell in cells:
        title, rest = cell.split("\n", 1)
        prose, code = re.fullmatch(r"((?:# [^\n]*\n)+)(.*)", rest, re.DOTALL).groups()
        (picture,) = re.findall(r'folder / "(.*?)"', code)
        prose = prose.replace("# ", "").strip()
        text += CELL.format(title=title, prose=prose, code=code.strip(), picture=picture)
    return text


if __name__ == "__main__":
    subprocess.run([sys.executable, EXAMPLE, DOCS / "images"], check=True)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
