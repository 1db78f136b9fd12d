"""Pictures, drawn with Matplotlib (extra: plot).

Every function draws into the axes it is given, or makes a figure of its own, and returns the
axes: one, or an array of them as ``plt.subplots`` does. So ``plot.arm(chain, q).figure.savefig(
"arm.png")`` writes a file. Nothing is shown, and no setting of Matplotlib's is changed.
"""

from jointwise.plot.charts import convergence, path
from jointwise.plot.film import gif
from jointwise.plot.space import arm, motion
from jointwise.plot.sweeps import sweep

__all__ = ["arm", "convergence", "gif", "motion", "path", "sweep"]
