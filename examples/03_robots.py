"""Arms by name, URDF and DH table.

Where an arm comes from, and how it is written as a URDF.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from jointwise import Chain, plot, robots

print("arms by name: ", ", ".join(robots.names()))
panda = robots.panda()
print(panda, "\n")

# The joints between two links of any URDF; meshes are not needed. Here, those beyond the elbow.
urdf = panda.to_urdf("panda")
wrist = Chain.from_urdf(urdf, base_link="link4", tip_link="tip")
print("its wrist:    ", repr(wrist))

# A DH table as textbooks print it. Missing numbers are 0, missing limits are infinite.
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
print("from a table: ", np.degrees(result.q).round(2), result)
plot.arm(arm, result.q)
