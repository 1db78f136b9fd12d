"""A fuzzer that learns what gets far into the reader: ``python -m tests.support.fuzz_urdf -runs=20000``.

Every text must end in a chain or in a JointwiseError. Arguments are those of libFuzzer.
"""

import sys
from xml.sax.saxutils import quoteattr

import atheris

with atheris.instrument_imports(include=["jointwise.model.urdf", "jointwise.model.urdf_xml"]):
    from jointwise import Chain, JointwiseError

LINKS = ["a", "b", "c", "d", ""]
KINDS = ["revolute", "continuous", "prismatic", "fixed", "planar", "floating", ""]
VALUES = ["0 0 1", "1 2 3", "0 0 0", "1 1", "nan 0 0", "1e8 0 0", "1e300 0 0", "1", "-1", "inf", ""]
PARTS = ["origin", "axis", "limit", "mimic", "parent", "child", "xacro:if", "gazebo"]
KEYS = ["xyz", "rpy", "lower", "upper", "joint", "link", "name"]


def robot(noise: bytes) -> str:
    """A robot whose joints and parts the noise chooses."""
    choose = atheris.FuzzedDataProvider(noise)

    def text(words: list[str]) -> str:
        odd = choose.ConsumeIntInRange(0, 9) == 0
        return quoteattr(choose.ConsumeUnicode(8) if odd else choose.PickValueInList(words))

    joints = []
    for number in range(choose.ConsumeIntInRange(0, 6)):
        parts = [f"<parent link={text(LINKS)}/><child link={text(LINKS)}/>"]
        for _ in range(choose.ConsumeIntInRange(0, 5)):
            tag, key = choose.PickValueInList(PARTS), choose.PickValueInList(KEYS)
            parts.append(f"<{tag} {key}={text(VALUES)}/>")
        joints.append(f'<joint name="{number}" type={text(KINDS)}>{"".join(parts)}</joint>')
    links = "".join(f"<link name={text(LINKS)}/>" for _ in range(choose.ConsumeIntInRange(0, 5)))
    return f"<robot>{links}{''.join(joints)}</robot>"


def read_one(noise: bytes) -> None:
    """Read the noise itself, and a robot made of it."""
    for source in (noise, robot(noise)):
        try:
            Chain.from_urdf(source)
        except JointwiseError:
            continue


if __name__ == "__main__":
    atheris.Setup(sys.argv, read_one)
    atheris.Fuzz()
