"""A Numba type of eight floats, so that kernels solve eight problems side by side.

Kernels are written for one problem, with scalar floats. The same lines compiled for ``Lanes`` work
on eight problems at once, in the vector registers of the processor. Such a kernel must not branch
on a number but select by ``where``. Each lane then holds, bit for bit, what the scalar kernel
computes.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import (
    intrinsic,
    lower_builtin,
    models,
    overload,
    register_model,
    type_callable,
)
from numba.np.arrayobj import make_array, populate_array

from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.slots import WIDTH

FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)
BITS = ir.VectorType(ir.IntType(1), WIDTH)


class Lanes(types.Type):
    """Eight floats."""


class Mask(types.Type):
    """Eight booleans."""


lanes, mask = Lanes("Lanes"), Mask("Mask")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, FLOATS)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, BITS)


def _broadcast(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """The value in every lane; lanes as they are."""
    if isinstance(kind, Lanes):
        return value
    undefined, indices = ir.Constant(FLOATS, ir.Undefined), ir.VectorType(ir.IntType(32), WIDTH)
    number = context.cast(builder, value, kind, types.float64)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(indices, [0] * WIDTH))


def _binary(operation: Any, result: Any, emit: Callable[..., Any]) -> None:
    """Register an operation on two lanes, or on lanes and a scalar."""
    scalar = (types.Float, types.Integer)

    @type_callable(operation)
    def _(context: Any) -> Callable[..., Any]:
        def result_type(a: Any, b: Any) -> Any:
            fits = all(isinstance(each, (Lanes, *scalar)) for each in (a, b))
            return result if fits and (isinstance(a, Lanes) or isinstance(b, Lanes)) else None

        return result_type

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pairs = zip(values, signature.args, strict=True)
        return emit(builder, *(_broadcast(context, builder, *pair) for pair in pairs))

    for kinds in ((Lanes, Lanes), *((Lanes, n) for n in scalar), *((n, Lanes) for n in scalar)):
        lower_builtin(operation, *kinds)(lower)


def _same_type(operation: Any, kind: Any, count: int, emit: Callable[..., Any]) -> None:
    """Register an operation whose arguments and result are of one type."""

    @type_callable(operation)
    def _(context: Any) -> Callable[..., Any]:
        if count == 1:
            return lambda a: kind if a == kind else None
        return lambda a, b: kind if a == b == kind else None

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return emit(builder, *values)

    lower_builtin(operation, *[type(kind)] * count)(lower)


def _llvm_intrinsic(name: str) -> Callable[..., Any]:
    """A function that emits a call of the LLVM intrinsic of that name."""

    def emit(builder: Any, value: Any) -> Any:
        kind = ir.FunctionType(FLOATS, [FLOATS])
        full_name = f"llvm.{name}.v{WIDTH}f64"
        return builder.call(
            cgutils.get_or_insert_function(builder.module, kind, full_name), [value]
        )

    return emit


for _operator, _in_place, _emit in (
    (operator.add, operator.iadd, lambda builder, a, b: builder.fadd(a, b)),
    (operator.sub, operator.isub, lambda builder, a, b: builder.fsub(a, b)),
    (operator.mul, operator.imul, lambda builder, a, b: builder.fmul(a, b)),
    (operator.truediv, operator.itruediv, lambda builder, a, b: builder.fdiv(a, b)),
):
    _binary(_operator, lanes, _emit)
    _binary(_in_place, lanes, _emit)
_binary(operator.lt, mask, lambda builder, a, b: builder.fcmp_ordered("<", a, b))
_binary(operator.le, mask, lambda builder, a, b: builder.fcmp_ordered("<=", a, b))
_binary(operator.gt, mask, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_binary(operator.ge, mask, lambda builder, a, b: builder.fcmp_ordered(">=", a, b))
_binary(operator.eq, mask, lambda builder, a, b: builder.fcmp_ordered("==", a, b))
_same_type(operator.and_, mask, 2, lambda builder, a, b: builder.and_(a, b))
_same_type(operator.or_, mask, 2, lambda builder, a, b: builder.or_(a, b))
_same_type(operator.xor, mask, 2, lambda builder, a, b: builder.xor(a, b))
_same_type(operator.neg, lanes, 1, lambda builder, a: builder.fneg(a))
_same_type(math.sqrt, lanes, 1, _llvm_intrinsic("sqrt"))
_same_type(abs, lanes, 1, _llvm_intrinsic("fabs"))


@intrinsic
def where_lanes(typing: Any, condition: Any, a: Any, b: Any) -> Any:
    """In each lane a or b."""

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pairs = zip(values[1:], signature.args[1:], strict=True)
        return builder.select(values[0], *(_broadcast(context, builder, *pair) for pair in pairs))

    return lanes(condition, a, b), make


@intrinsic
def floor_lanes(typing: Any, value: Any) -> Any:
    """In each lane the largest integer not above the value."""

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _llvm_intrinsic("floor")(builder, values[0])

    return lanes(value), make


@intrinsic
def any_lane_set(typing: Any, condition: Any) -> Any:
    """Whether the mask is set in any lane."""

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = ir.IntType(WIDTH)
        return builder.icmp_unsigned("!=", builder.bitcast(values[0], bits), ir.Constant(bits, 0))

    return types.boolean(condition), make


@intrinsic
def mask_bits(typing: Any, condition: Any) -> Any:
    """The mask as an integer: bit k is lane k."""

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = builder.bitcast(values[0], ir.IntType(WIDTH))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(condition), make


def as_lanes(array: Floats) -> Floats:
    """An array of floats (..., WIDTH) as an array of lanes, without the last axis."""
    return array


@intrinsic
def _as_lanes(typing: Any, array: Any) -> Any:
    array_type = types.Array(lanes, array.ndim - 1, "C", aligned=False)

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        floats = make_array(signature.args[0])(context, builder, values[0])
        result = make_array(array_type)(context, builder)
        shape, strides = (
            cgutils.unpack_tuple(builder, each)[: array_type.ndim]
            for each in (floats.shape, floats.strides)
        )
        populate_array(
            result,
            data=builder.bitcast(floats.data, FLOATS.as_pointer()),
            shape=shape,
            strides=strides,
            itemsize=ir.Constant(ir.IntType(64), 8 * WIDTH),
            meminfo=floats.meminfo,
        )
        context.nrt.incref(builder, array_type, result._getvalue())
        return result._getvalue()

    return array_type(array), make


@overload(as_lanes)
def _(array: Any) -> Callable[..., Any]:
    def make(array: Any) -> Any:
        return _as_lanes(array)

    return make
