"""Edits of LLVM's text form, before NVVM compiles it for a GPU."""

import re

# Metadata of the edits is numbered from here, above what Numba uses.
FIRST_NODE = 900_000

LABEL = re.compile(r'^("[^"]+"|[\w.$]+):')
BRANCH = re.compile(r"^\s+br [^!]*$")
BRANCH_TARGETS = re.compile(r'label %("[^"]+"|[\w.$]+)')
ARITHMETIC = re.compile(r"= (fadd|fsub|fmul|fdiv) (double|float)")


def unroll_loops(text: str) -> str:
    """The module with every backward branch marked for full unrolling, and finite arithmetic.

    LLVM leaves large loops alone unless they are marked, also where the number of rounds is known.
    The flags nnan, ninf and nsz let it drop products with a constant zero; they assume that no
    infinity or NaN meets an addition or multiplication.
    """
    lines: list[str] = []
    nodes: list[str] = []
    labels: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define"):
            labels = set()
        label = LABEL.match(line)
        if label:
            labels.add(label[1].strip('"'))
        targets = {name.strip('"') for name in BRANCH_TARGETS.findall(line)}
        if BRANCH.match(line) and labels & targets:
            number = FIRST_NODE + len(nodes) + 1
            line += f", !llvm.loop !{number}"
            nodes.append(f"!{number} = distinct !{{!{number}, !{FIRST_NODE}}}")
        lines.append(ARITHMETIC.sub(r"= \1 nnan ninf nsz \2", line))
    if nodes:
        nodes.append(f'!{FIRST_NODE} = !{{!"llvm.loop.unroll.full"}}')
    return "\n".join([*lines, *nodes, ""])


def keep_calls(texts: list[str], names: tuple[str, ...]) -> list[str]:
    """The modules without repetitions, in which functions of these names are not inlined.

    Numba hands over the module of a function once for each way to it. Inlined everywhere, functions
    that are called in many places would take minutes to compile.
    """
    found = re.compile("|".join(f"[0-9]{name}B[0-9]" for name in names))
    lines = (
        [
            f"{line} noinline" if line.startswith("define") and found.search(line) else line
            for line in text.splitlines()
        ]
        for text in dict.fromkeys(texts)
    )
    return ["\n".join([*each, ""]) for each in lines]
