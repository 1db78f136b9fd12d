"""Machine code of kernels in an object file, to be linked into a library that needs no Numba.

A function of it takes the address of an array of 64-bit slots, reads its arguments from there and
writes its results there. It returns 0, or another number if memory ran out.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, cast
from unittest.mock import patch

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import caching, cgutils, codegen, cpu
from numba.core.runtime import nrtdynmod
from numba.extending import intrinsic
from numba.np.arrayobj import carray as carray

# How Numba's code reads the header of an array's memory; ``native.c`` allocates it so.
MEMORY_HEADER = "{i64, i8*, i8*, i8*, i64}"
# The slots as integers, and as floats.
SIGNATURE = types.void(types.CPointer(types.int64), types.CPointer(types.float64))


@intrinsic
def address_as(typing: Any, address: Any, element: Any) -> Any:
    """An integer as a pointer to numbers of a type."""

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.CPointer(element.dtype)(address, element), make


def as_kernel(function: Callable[..., Any]) -> Any:
    """A function of Python that calls kernels, so that kernels can call it."""
    return function if hasattr(function, "py_func") else njit(error_model="numpy")(function)


def compile_objects(
    functions: Mapping[str, Callable[..., None]], symbols: Mapping[str, Mapping[str, str]]
) -> dict[str, bytes]:
    """Object files of some functions, by the level of processors that each is for.

    Args:
        functions: By name; each takes the slots as integers and as floats.
        symbols: For each level, as LLVM calls it, the symbols of the functions that it has.
    """
    if str(nrtdynmod._meminfo_struct_type) != MEMORY_HEADER:
        raise RuntimeError("this version of Numba lays out arrays in another way")
    with _without_machine_code():
        compiled = {name: _overload(function) for name, function in functions.items()}
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return {level: _emit(compiled, level, names) for level, names in symbols.items()}


def _overload(function: Callable[..., None]) -> Any:
    compiled = njit(error_model="numpy")(function)
    compiled.compile(SIGNATURE)
    return compiled.overloads[SIGNATURE.args]


@contextmanager
def _without_machine_code() -> Iterator[None]:
    """In this block Numba writes LLVM text only.

    By itself it optimises and assembles every function, with all that it calls, and wraps it for
    Python. That takes twice as long, and here is done once, for all functions together.
    """

    def no_executable(context: Any, library: Any, *_: Any) -> Any:
        library._ensure_finalized()
        return [].append  # a new built-in function, which Numba takes for the compiled one

    def nothing(*_: Any, **__: Any) -> None:
        pass

    with ExitStack() as stack:
        for owner, name, replacement in (
            (codegen.CPUCodeLibrary, "_optimize_final_module", nothing),
            (codegen.JITCodeLibrary, "_finalize_specific", nothing),
            (codegen.JITCPUCodegen, "_add_module", nothing),
            (cpu.CPUContext, "create_cpython_wrapper", nothing),
            (cpu.CPUContext, "get_executable", no_executable),
            (caching.Cache, "load_overload", nothing),
            (caching.Cache, "save_overload", nothing),
        ):
            stack.enter_context(patch.object(owner, name, replacement))
        yield


def _emit(compiled: Mapping[str, Any], level: str, symbols: Mapping[str, str]) -> bytes:
    """The object file for a level of processors."""
    module = llvm.parse_assembly("")
    for name, symbol in symbols.items():
        module.link_in(compiled[name].library._final_module.clone())
        module.link_in(llvm.parse_assembly(_caller(symbol, compiled[name])))
    exported = set(symbols.values())
    for each in module.functions:
        if not each.is_declaration and each.name not in exported:
            each.linkage = "internal"  # so that unused ones are dropped
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=level, opt=3, reloc="pic", codemodel="default")
    for _ in range(2):  # as Numba does: once functions are inlined, counts of references cancel
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)
    return cast(bytes, machine.emit_object(module))


def _caller(symbol: str, compiled: Any) -> str:
    """LLVM text of ``int symbol(slots)``, which calls a compiled function in Numba's way."""
    convention, descriptor = compiled.target_context.call_conv, compiled.fndesc
    module, final = ir.Module(symbol), compiled.library._final_module
    module.triple, module.data_layout = final.triple, final.data_layout
    slots = ir.IntType(64).as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.IntType(32), [slots]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    kind = convention.get_function_type(descriptor.restype, descriptor.argtypes)
    callee = cgutils.get_or_insert_function(module, kind, descriptor.llvm_func_name)
    integers = function.args[0]
    floats = builder.bitcast(integers, ir.DoubleType().as_pointer())
    status, _ = convention.call_function(
        builder, callee, descriptor.restype, descriptor.argtypes, [integers, floats]
    )
    builder.ret(status.code)
    return str(module)
