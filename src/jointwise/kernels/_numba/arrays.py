"""Arrays without reference counting: small ones on the stack, and views of a packed buffer.

Numba counts the references to an array with locked instructions at every call and every view.
These arrays are not counted: what they point at must outlive their use.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba.core import config, types
from numba.extending import intrinsic, overload

from jointwise.kernels._numba.jit import ir_inline
from jointwise.kernels.layout.arrays import Floats, packed_view

try:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core.typing.templates import infer, infer_global, make_intrinsic_template
    from numba.np.arrayobj import make_array, populate_array
except ImportError:  # another Numba: arrays are then allocated on the heap and counted
    HAS_ARRAY_INTERNALS = False
else:
    HAS_ARRAY_INTERNALS = True

# Sizes of small arrays must be known when a kernel is compiled: the length of a tuple is.
PAIR, XYZ, QUAD, TWIST, OCTET = (0,) * 2, (0,) * 3, (0,) * 4, (0,) * 6, (0,) * 8


def _heap_array(rows: tuple[float, ...], columns: tuple[float, ...], like: float) -> Floats:
    """(len(rows), len(columns)) uninitialised numbers of the type of ``like``."""
    return np.empty((len(rows), len(columns)))


def _stack_array(typing: Any, rows: Any, columns: Any, like: Any) -> Any:
    shape = len(rows), len(columns)
    array_type = types.Array(like, 2, "C", aligned=isinstance(like, types.Float))

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element, int64 = context.get_data_type(like), ir.IntType(64)
        size = context.get_abi_sizeof(element)
        memory = cgutils.alloca_once(builder, element, size=int64(shape[0] * shape[1]))
        array = make_array(array_type)(context, builder)
        populate_array(
            array,
            data=memory,
            shape=[int64(n) for n in shape],
            strides=[int64(size * shape[1]), int64(size)],
            itemsize=int64(size),
            meminfo=None,
        )
        return array._getvalue()

    return array_type(rows, columns, like), make


# An intrinsic is part of its caller, so the array lives until the caller returns.
stack_array = cast(
    Callable[..., Floats],
    _heap_array
    if config.DISABLE_JIT
    else intrinsic(_stack_array)
    if HAS_ARRAY_INTERNALS
    else ir_inline(_heap_array),
)


def uncounted(array: Any) -> Any:
    """The same array without reference counting: for an argument, which the caller keeps."""
    return array


if HAS_ARRAY_INTERNALS:

    def _view_of(typing: Any, buffer: Any, begin: Any, shape: Any) -> Any:
        array_type = types.Array(buffer.dtype, len(shape), "C")

        def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            of_buffer, of_begin, of_shape = signature.args
            source = context.make_array(of_buffer)(context, builder, arguments[0])
            offset = context.cast(builder, arguments[1], of_begin, types.intp)
            lengths = [
                context.cast(builder, length, kind, types.intp)
                for length, kind in zip(
                    cgutils.unpack_tuple(builder, arguments[2]), of_shape, strict=True
                )
            ]
            size = context.get_abi_sizeof(context.get_data_type(buffer.dtype))
            strides = [ir.IntType(64)(size)]
            for length in lengths[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
            array = make_array(array_type)(context, builder)
            populate_array(
                array,
                data=builder.gep(source.data, [offset]),
                shape=lengths,
                strides=strides,
                itemsize=ir.IntType(64)(size),
                meminfo=None,
            )
            return array._getvalue()

        return array_type(buffer, begin, shape), make

    # An intrinsic by the name of the Python function: on a GPU, a function returns no arrays.
    _template = make_intrinsic_template(packed_view, _view_of, "packed_view")
    infer(_template)
    infer_global(packed_view, types.Function(_template))

    @intrinsic
    def _without_count(typing: Any, array: Any) -> Any:
        def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = make_array(signature.args[0])(context, builder, arguments[0])
            view.meminfo = cgutils.get_null_value(view.meminfo.type)
            return view._getvalue()

        return array(array), make

    @overload(uncounted)
    def _uncounted(array: Any) -> Callable[..., Any]:
        def make(array: Any) -> Any:
            return _without_count(array)

        return make

else:

    @overload(uncounted)
    def _uncounted(array: Any) -> Callable[..., Any]:
        def make(array: Any) -> Any:
            return array

        return make

    @overload(packed_view)
    def _packed_view(buffer: Any, begin: Any, shape: Any) -> Callable[..., Any]:
        def make(buffer: Any, begin: Any, shape: Any) -> Any:
            size = 1
            for length in shape:
                size *= length
            return buffer[begin : begin + size].reshape(shape)

        return make
