"""Figures, drawn with Matplotlib (extra ``plot``).

Every function draws into the given axes, or into a new figure, and returns the axes: one, or an
array of them as ``plt.subplots`` does. ``plot.arm(chain, q).figure.savefig("arm.png")`` writes a
file. An invalid argument raises ``InvalidInputError``, whose text names the argument and the
problem. No window is opened, and no Matplotlib setting is changed.
"""

from jointwise.plot.animation import gif
from jointwise.plot.charts import convergence, path
from jointwise.plot.plans import plan
from jointwise.plot.robot3d import robot
from jointwise.plot.space import arm, motion, solutions
from jointwise.plot.sweeps import sweep

__all__ = ["arm", "convergence", "gif", "motion", "path", "plan", "robot", "solutions", "sweep"]
