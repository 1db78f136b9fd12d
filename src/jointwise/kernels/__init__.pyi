from . import batch as batch
from . import batch_cuda as batch_cuda
from . import build as build
from . import descent as descent
from . import entry_points as entry_points
from . import fk as fk
from . import lm as lm
from . import measure as measure
from . import rounds_cuda as rounds_cuda
from . import search as search
from . import shapes as shapes
from . import slots as slots
from . import steps as steps
from . import sweep as sweep
from . import tasks as tasks
from . import thresholds as thresholds
from . import voxels as voxels
from . import voxels_cuda as voxels_cuda

__all__: list[str]
