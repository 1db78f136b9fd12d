"""Write ``docs/gallery.md`` from ``examples/04_pictures.py``: each cell and its figure."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
EXAMPLE = DOCS.parent / "examples" / "04_pictures.py"
HEAD = """# Gallery

The figures of `jointwise.plot` (`pip install 'jointwise[plot]'`), each below the code that draws
it. The code is [04_pictures.py](../examples/04_pictures.py), which begins with the imports below;
`make gallery` draws all figures again.

```python
{imports}
```
"""
CELL = """
## {title}

{prose}

```python
{code}
```

![{title}](images/{file})
"""


def page() -> str:
    """The text of the gallery."""
    imports, *cells = EXAMPLE.read_text(encoding="utf-8").split("# %% ")
    text = HEAD.format(imports=imports.split('"""')[2].strip())
    for cell in cells:
        title, rest = cell.split("\n", 1)
        prose, code = re.fullmatch(r"((?:# [^\n]*\n)+)(.*)", rest, re.DOTALL).groups()
        (file,) = re.findall(r'folder / "(.*?)"', code)
        prose = prose.replace("# ", "").strip()
        text += CELL.format(title=title, prose=prose, code=code.strip(), file=file)
    return text


if __name__ == "__main__":
    subprocess.run([sys.executable, EXAMPLE, DOCS / "images"], check=True)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
