"""Eight problems side by side: a number that is eight numbers, one for each.

Kernels are written for one problem, with plain floats. The same lines compiled for ``Lanes``
work on eight at once, since a processor adds four or eight floats in the time of one. For that
a kernel must not branch on a number but choose by ``where``. Each lane then holds, bit by bit,
what the kernel for one problem would have found.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
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

from jointwise.kernels import Floats

WIDTH = 8
FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)
BITS = ir.VectorType(ir.IntType(1), WIDTH)


class Lanes(types.Type):
    """Eight floats."""


class Mask(types.Type):
    """Eight truths."""


lanes, mask = Lanes("Lanes"), Mask("Mask")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, FLOATS)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, BITS)


def _spread(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """A number in every lane."""
    if isinstance(kind, Lanes):
        return value
    nothing, places = ir.Constant(FLOATS, ir.Undefined), ir.VectorType(ir.IntType(32), WIDTH)
    number = context.cast(builder, value, kind, types.float64)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(places, [0] * WIDTH))


def _binary(operation: Any, result: Any, emit: Callable[..., Any]) -> None:
    """Teach Numba an operation on two lanes, or on one and a plain number."""
    plain = (types.Float, types.Integer)

    @type_callable(operation)
    def _(context: Any) -> Callable[..., Any]:
        def choose(a: Any, b: Any) -> Any:
            fits = all(isinstance(each, (Lanes, *plain)) for each in (a, b))
            return result if fits and (isinstance(a, Lanes) or isinstance(b, Lanes)) else None

        return choose

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pairs = zip(values, signature.args, strict=True)
        return emit(builder, *(_spread(context, builder, *pair) for pair in pairs))

    for kinds in ((Lanes, Lanes), *((Lanes, n) for n in plain), *((n, Lanes) for n in plain)):
        lower_builtin(operation, *kinds)(lower)


def _same_kind(operation: Any, kind: Any, count: int, emit: Callable[..., Any]) -> None:
    """Teach Numba an operation on values of one kind that gives another of that kind."""

    @type_callable(operation)
    def _(context: Any) -> Callable[..., Any]:
        if count == 1:
            return lambda a: kind if a == kind else None
        return lambda a, b: kind if a == b == kind else None

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return emit(builder, *values)

    lower_builtin(operation, *[type(kind)] * count)(lower)


def _function(name: str) -> Callable[..., Any]:
    """What emits a call of LLVM's function of that name."""

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
_same_kind(operator.and_, mask, 2, lambda builder, a, b: builder.and_(a, b))
_same_kind(operator.or_, mask, 2, lambda builder, a, b: builder.or_(a, b))
_same_kind(operator.xor, mask, 2, lambda builder, a, b: builder.xor(a, b))
_same_kind(operator.neg, lanes, 1, lambda builder, a: builder.fneg(a))
_same_kind(math.sqrt, lanes, 1, _function("sqrt"))
_same_kind(abs, lanes, 1, _function("fabs"))


def where(condition: bool, a: float, b: float) -> float:
    """Of each lane a or b. Both have been computed."""
    if isinstance(condition, np.ndarray):  # lanes that are not compiled
        return cast(float, np.where(condition, a, b))
    return a if condition else b


@intrinsic
def _where(typing: Any, condition: Any, a: Any, b: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pairs = zip(values[1:], signature.args[1:], strict=True)
        return builder.select(values[0], *(_spread(context, builder, *pair) for pair in pairs))

    return lanes(condition, a, b), make


@overload(where)
def _(condition: Any, a: Any, b: Any) -> Callable[..., Any]:
    def in_lanes(condition: Any, a: Any, b: Any) -> Any:
        return _where(condition, a, b)

    def alone(condition: Any, a: Any, b: Any) -> Any:
        return a if condition else b

    return in_lanes if isinstance(condition, Mask) else alone


def floor(value: float) -> float:
    """The whole number below, as a float."""
    return cast(float, np.floor(value))


@overload(floor, target="cpu")
def _(value: Any) -> Callable[..., Any]:
    def in_lanes(value: Any) -> Any:
        return _floor(value)

    def alone(value: Any) -> Any:
        return np.floor(value)

    return in_lanes if isinstance(value, Lanes) else alone


@overload(floor, target="cuda")
def _(value: Any) -> Callable[..., Any]:
    def double(value: Any) -> Any:
        return float(math.floor(value))

    def single(value: Any) -> Any:
        return np.float32(math.floor(value))

    return single if value is types.float32 else double


@intrinsic
def _floor(typing: Any, value: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _function("floor")(builder, values[0])

    return lanes(value), make


def some(condition: bool) -> bool:
    """Whether it is true in any lane."""
    return condition.any() if isinstance(condition, np.ndarray) else condition


@intrinsic
def _some(typing: Any, condition: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = ir.IntType(WIDTH)
        return builder.icmp_unsigned("!=", builder.bitcast(values[0], bits), ir.Constant(bits, 0))

    return types.boolean(condition), make


@overload(some)
def _(condition: Any) -> Callable[..., Any]:
    def in_lanes(condition: Any) -> Any:
        return _some(condition)

    def alone(condition: Any) -> Any:
        return condition

    return in_lanes if isinstance(condition, Mask) else alone


def in_lanes(array: Floats) -> Floats:
    """An array of floats (..., WIDTH), seen as an array of lanes without the last axis."""
    return array


@intrinsic
def _in_lanes(typing: Any, array: Any) -> Any:
    seen = types.Array(lanes, array.ndim - 1, "C", aligned=False)

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        floats = make_array(signature.args[0])(context, builder, values[0])
        result = make_array(seen)(context, builder)
        shape, strides = (
            cgutils.unpack_tuple(builder, each)[: seen.ndim]
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
        context.nrt.incref(builder, seen, result._getvalue())
        return result._getvalue()

    return seen(array), make


@overload(in_lanes)
def _(array: Any) -> Callable[..., Any]:
    def make(array: Any) -> Any:
        return _in_lanes(array)

    return make
