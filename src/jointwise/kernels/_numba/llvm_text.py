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
