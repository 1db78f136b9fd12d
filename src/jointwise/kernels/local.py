"""Arrays that cost nothing to make: small ones on the stack, and views of a block.

Numba counts who holds an array, at every call and every view, with locked instructions. These
it does not count: what they point at must live as long as they are used.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import carray, make_array, populate_array

from jointwise import kernels
from jointwise.kernels import Floats

# The size of a small array must be known when a kernel is compiled: the length of a tuple is.
PAIR, XYZ, TWIST = (0,) * 2, (0,) * 3, (0,) * 6


def _plain(rows: tuple[float, ...], columns: tuple[float, ...], like: float) -> Floats:
    """(len(rows), len(columns)) room for numbers, until the function returns that asks for it.

    They are of the kind of ``like``: floats, or lanes of them.
    """
    return np.empty((len(rows), len(columns), *np.shape(like)))


def _local(typing: Any, rows: Any, columns: Any, like: Any) -> Any:
    shape = len(rows), len(columns)
    room = types.Array(like, 2, "C", aligned=isinstance(like, types.Float))

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element, whole = context.get_data_type(like), ir.IntType(64)
        size = context.get_abi_sizeof(element)
        memory = cgutils.alloca_once(builder, element, size=whole(shape[0] * shape[1]))
        array = make_array(room)(context, builder)
        populate_array(
            array,
            data=memory,
            shape=[whole(n) for n in shape],
            strides=[whole(size * shape[1]), whole(size)],
            itemsize=whole(size),
            meminfo=None,
        )
        return array._getvalue()

    return room(rows, columns, like), make


# Not a function but part of the one that calls it: what it makes must not outlive that.
local = _plain if config.DISABLE_JIT else cast(Callable[..., Floats], intrinsic(_local))


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
