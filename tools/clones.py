"""Pairs of files that repeat each other's lines.

Lines are compared as text, docstrings included. Blank lines, comments, imports and lines of
punctuation are skipped. A run is six consecutive lines of the rest. Two runs are clones

- if they are equal except for white space, or
- if they have the same shape: equal except for names, numbers and strings. At least four of the
  six lines must then have five tokens or more, because lists of names and of parameters with their
  types all have one shape.

A run with more than eight clones is a convention of the code base and does not count; neither do
runs of one file that overlap. However many clones two files share, they are one pair. A file that
repeats itself is one pair, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from keyword import kwlist
from pathlib import Path

# Lines of a run; places in which a run may stand.
RUN, MAX_PLACES = 6, 8
# So many lines of a run that is compared by shape have at least so many tokens.
LONG_LINES, LONG = 4, 5

# A docstring up to the end of its line, a string, a comment, a number, a word, punctuation.
TOKEN = re.compile(
    r"""\w?\"{3}.* | \w{0,2}"(?:[^"\\]|\\.)*" | \w{0,2}'(?:[^'\\]|\\.)*'
    | \#.* | \d[\w.]* | \w+ | \S""",
    re.VERBOSE,
)
# None, True and False are values, like names.
KEYWORDS = {word for word in kwlist if word.islower()}
SKIPPED = re.compile(r"\s*(#.*|(import|from)\b.*|\W*)")

Pair = tuple[Path, Path]
# The file of a run, and its number among the runs of the file.
Place = tuple[Path, int]


def clones(files: Iterable[Path]) -> tuple[set[Pair], set[Pair]]:
    """All pairs of files that share a run, and those of them that share one to the letter."""
    by_text: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    by_shape: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for file in files:
        text = [" ".join(line.split()) for line in compared_lines(file)]
        shapes = [shape(line) for line in text]
        for number in range(len(text) - RUN + 1):
            by_text[tuple(text[number : number + RUN])].append((file, number))
            run = tuple(shapes[number : number + RUN])
            if sum(len(line.split()) >= LONG for line in run) >= LONG_LINES:
                by_shape[run].append((file, number))
    equal = pairs(by_text.values())
    return equal | pairs(by_shape.values()), equal


def compared_lines(file: Path) -> Iterator[str]:
    """The lines of a file without those that are skipped."""
    for line in file.read_text("utf-8").splitlines():
        if not SKIPPED.fullmatch(line):
            yield line


def shape(line: str) -> str:
    """The tokens of a line, with ``name``, ``0`` and ``""`` for names, numbers and strings."""
    return " ".join(placeholder(token) for token in TOKEN.findall(line))


def placeholder(token: str) -> str:
    """What stands for a token in the shape of its line."""
    if token.startswith("#"):
        return ""
    if len(token) > 1 and ('"' in token or "'" in token):
        return '""'
    if token[0].isdigit():
        return "0"
    return "name" if token.isidentifier() and token not in KEYWORDS else token


def pairs(runs: Iterable[Sequence[Place]]) -> set[Pair]:
    """The pairs of files among the places of equal runs."""
    return {
        (file, other)
        for places in runs
        if len(places) <= MAX_PLACES
        for (file, number), (other, its_number) in combinations(places, 2)
        if file != other or its_number - number >= RUN
    }
