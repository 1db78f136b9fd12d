"""Coverage-guided fuzzing of the URDF reader: ``python -m tests.support.fuzz_urdf -runs=20000``.

Every input must give a chain and a robot, or raise a JointwiseError. The arguments are those of
libFuzzer.
"""

import sys
from xml.sax.saxutils import quoteattr

import atheris

with atheris.instrument_imports(include=["jointwise.model.urdf"]):
    from jointwise import Chain, JointwiseError, Robot

LINKS = ["a", "b", "c", "d", ""]
TYPES = ["revolute", "continuous", "prismatic", "fixed", "planar", "floating", ""]
VALUES = [
    "0",
    "0 0 1",
    "1 2 3",
    "0 0 0",
    "1 1",
    "nan 0 0",
    "1e8 0 0",
    "1e300 0 0",
    "1",
    "-1",
    "inf",
    "",
]
TAGS = ["origin", "axis", "limit", "mimic", "parent", "child", "xacro:if", "gazebo"]
ATTRIBUTES = ["xyz", "rpy", "lower", "upper", "velocity", "joint", "multiplier", "link", "name"]


def robot(noise: bytes) -> str:
    """A URDF whose joints and their elements depend on the noise."""
    provider = atheris.FuzzedDataProvider(noise)

    def attribute(values: list[str]) -> str:
        """One of the values, or now and then random text."""
        random = provider.ConsumeIntInRange(0, 9) == 0
        return quoteattr(provider.ConsumeUnicode(8) if random else provider.PickValueInList(values))

    joints = []
    for i in range(provider.ConsumeIntInRange(0, 6)):
        elements = [f"<parent link={attribute(LINKS)}/><child link={attribute(LINKS)}/>"]
        for _ in range(provider.ConsumeIntInRange(0, 5)):
            tag, name = provider.PickValueInList(TAGS), provider.PickValueInList(ATTRIBUTES)
            elements.append(f"<{tag} {name}={attribute(VALUES)}/>")
        joints.append(f'<joint name="{i}" type={attribute(TYPES)}>{"".join(elements)}</joint>')
    links = "".join(
        f"<link name={attribute(LINKS)}/>" for _ in range(provider.ConsumeIntInRange(0, 5))
    )
    return f"<robot>{links}{''.join(joints)}</robot>"


def read_one(noise: bytes) -> None:
    """Read the noise itself, and a URDF made from it."""
    for source in (noise, robot(noise)):
        for read in (Chain.from_urdf, Robot.from_urdf):
            try:
                read(source)
            except JointwiseError:
                continue


if __name__ == "__main__":
    atheris.Setup(sys.argv, read_one)
    atheris.Fuzz()
