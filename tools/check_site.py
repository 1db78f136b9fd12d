"""Check the built site: ``python tools/check_site.py docs/_build/html``.

No page loads a script, a style, a font or a picture from elsewhere, and every link within the site
leads to a file and, where it names one, to an element that exists. Links to other sites are not
followed.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

# Attributes that make a browser load something, by tag; ``a`` only leads somewhere.
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
# Relations of ``link`` that load nothing.
NOT_LOADED = {"canonical", "next", "prev", "index", "search", "genindex", "author", "copyright"}


class Page(HTMLParser):
    """What a page loads, where it leads, and its elements.

    Attributes:
        loads: Addresses that a browser loads.
        links: Addresses that a reader can follow.
        ids: Names of the elements.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads, where it leads, and its name."""
        given = dict(attrs)
        self.ids.update(value for value in (given.get("id"), given.get("name")) if value)
        address = given.get(LOADS.get(tag, ""))
        if address and not NOT_LOADED & set((given.get("rel") or "").split()):
            self.loads.append(address)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")


def is_external(address: str) -> bool:
    """Whether an address is on another machine."""
    return bool(re.match(r"(https?:)?//", address))


def broken_links(pages: dict[Path, Page]) -> list[str]:
    """Links within the site that lead nowhere."""
    broken = []
    for file, page in pages.items():
        for link in page.links + page.loads:
            if is_external(link) or re.match(r"(mailto|data|javascript):", link):
                continue
            path, name = urldefrag(link)
            place = (file.parent / unquote(path.partition("?")[0])).resolve() if path else file
            if not place.exists():
                broken.append(f"{file}: {link}: no such file")
            elif name and place in pages and unquote(name) not in pages[place].ids:
                broken.append(f"{file}: {link}: no such place")
    return broken


def external_loads(site: Path, pages: dict[Path, Page]) -> list[str]:
    """What pages and styles load from elsewhere."""
    loads = [(file, each) for file, page in pages.items() for each in page.loads]
    found = [f"{file}: {each}" for file, each in loads if is_external(each)]
    for style in site.rglob("*.css"):
        addresses = re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")\s]+)", style.read_text("utf-8"))
        found += [f"{style}: {each}" for each in addresses if is_external(each)]
    return found


def main() -> None:
    """Print what is wrong; exit with 1 if anything is."""
    site = Path(sys.argv[1]).resolve()
    pages = {file: Page(file) for file in sorted(site.rglob("*.html"))}
    problems = external_loads(site, pages) + broken_links(pages)
    print(*problems, sep="\n", end="\n" * bool(problems))
    print(f"{len(pages)} pages, {len(problems)} problems")
    sys.exit(bool(problems) or not pages)


if __name__ == "__main__":
    main()
