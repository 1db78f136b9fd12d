"""Arrays that cost nothing to make: small ones on the stack, and views of a block.

Numba counts who holds an array, at every call and every view, with locked instructions. These
it does not count: what they point at must live as long as they are used.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import carray

from jointwise import kernels
from jointwise.kernels import Floats

# The size of a small array must be known when a kernel is compiled: the length of a tuple is.
PAIR, XYZ, TWIST = (0,) * 2, (0,) * 3, (0,) * 6


def local(rows: tuple[float, ...], columns: tuple[float, ...]) -> Floats:
    """(len(rows), len(columns)) room for floats, until the function returns that asks for it."""
    return np.empty((len(rows), len(columns)))


@intrinsic
def _room(typing: Any, rows: Any, columns: Any) -> Any:
    size = ir.Constant(ir.IntType(64), len(rows) * len(columns))

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once(builder, ir.DoubleType(), size=size)

    return types.CPointer(types.float64)(rows, columns), make


@overload(local, inline="always")
def _local(rows: Any, columns: Any) -> Callable[..., Any]:
    shape = len(rows), len(columns)

    def make(rows: Any, columns: Any) -> Any:
        return carray(_room(rows, columns), shape)

    return make


@intrinsic
def _pointer(typing: Any, block: Any, begin: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.gep(array.data, [arguments[1]])

    return types.CPointer(types.float64)(block, begin), make


@overload(kernels.view)
def _view(block: Any, begin: Any, shape: Any) -> Callable[..., Any]:
    def make(block: Any, begin: Any, shape: Any) -> Any:
        return carray(_pointer(block, begin), shape)

    return make
