"""Real arms: by name, from a maker's URDF, from a table, and back to a URDF for other tools."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from jointwise import Chain, robots

print("arms by name: ", ", ".join(robots.names()))
panda = robots.panda()
print(panda, "\n")

# Between two links of any URDF; meshes are not needed. Here the joints beyond the elbow.
urdf = panda.to_urdf("panda")
wrist = Chain.from_urdf(urdf, base="link4", tip="tip")
print("its wrist:    ", repr(wrist))

# A table as textbooks print it: what is left out is 0, or free.
table = """
name,      d,     a,    alpha,  lower,  upper
swivel,    0.3,   0,    90,     -180,   180
shoulder,  0,     0.4,  0,      -30,    120
elbow,     0,     0.3,  0,      -150,   0
"""
with TemporaryDirectory() as folder:
    file = Path(folder) / "arm.csv"
    file.write_text(table)
    arm = Chain.from_table(file, angles="degrees")
result = arm.solve([0.4, 0.2, 0.5])
print("from a table: ", np.degrees(result.joint_angles).round(2), result.status.value)
