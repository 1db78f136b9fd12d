from . import arm as arm
from . import batch as batch
from . import collision as collision
from . import rounds as rounds
from . import scene as scene
from . import solutions as solutions
from . import tree as tree
from . import voxels as voxels

__all__: list[str]
