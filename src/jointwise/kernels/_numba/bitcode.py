"""Kernels as LLVM bitcode, from which machine code for any processor is made without Numba.

A function of it takes the address of an array of 64-bit slots, reads its arguments from there and
writes its results there. It returns 0, or another number if memory ran out.
"""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, cast
from unittest.mock import patch

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import base, caching, cgutils, codegen, cpu, imputils
from numba.core.runtime import nrtdynmod
from numba.core.typing import context, templates
from numba.extending import intrinsic
from numba.np.arrayobj import carray as carray

from jointwise.kernels._numba.object_file import hide_all_but

# How Numba's code reads the header of an array's memory; ``native.c`` allocates it so.
MEMORY_HEADER = "{i64, i8*, i8*, i8*, i64}"
# Adds or drops a reference to an array, if its memory is counted.
INLINE_TEST = """
define void @{name}(i8* %memory) alwaysinline {{
  %is_null = icmp eq i8* %memory, null
  br i1 %is_null, label %end, label %count
count:
  call void @{name}_counted(i8* %memory)
  br label %end
end:
  ret void
}}
"""
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


@contextmanager
def bitcode_only(function_passes: bool) -> Iterator[None]:
    """In this block Numba writes LLVM text only, and ``compile_bitcode`` may be called.

    By itself Numba links every function into each of its callers, optimises and assembles it, and
    wraps it for Python. That takes three times as long, and is done once for all functions later.

    Args:
        function_passes: Whether LLVM simplifies each function by itself. Then the passes over all
            functions take half as long, but the bitcode is for 64-bit addresses.
    """
    if str(nrtdynmod._meminfo_struct_type) != MEMORY_HEADER:
        raise RuntimeError("this version of Numba lays out arrays in another way")

    def keep_apart(library: Any) -> None:
        library._raise_if_finalized()
        library._finalized = True

    def set_layout(library: Any, module: Any) -> None:
        module.data_layout = library._codegen._data_layout

    def no_executable(context: Any, library: Any, *_: Any) -> Any:
        library._ensure_finalized()
        return [].append  # a new built-in function, which Numba takes for the compiled one

    def nothing(*_: Any, **__: Any) -> None:
        pass

    replacements: list[tuple[Any, str, Any]] = [
        (codegen.CPUCodeLibrary, "finalize", keep_apart),
        (cpu.CPUContext, "create_cpython_wrapper", nothing),
        (cpu.CPUContext, "get_executable", no_executable),
        (caching.Cache, "load_overload", nothing),
        (caching.Cache, "save_overload", nothing),
        (base.BaseContext, "refresh", _refresh_if_new(base.BaseContext.refresh)),
        (context.BaseContext, "refresh", _refresh_if_new(context.BaseContext.refresh)),
    ]
    if not function_passes:
        replacements.append((codegen.CPUCodeLibrary, "_optimize_functions", set_layout))
    collecting = gc.isenabled()
    gc.disable()  # nothing here is garbage, and looking for it takes a tenth of the time
    try:
        with ExitStack() as stack:
            for owner, name, replacement in replacements:
                stack.enter_context(patch.object(owner, name, replacement))
            yield
    finally:
        if collecting:
            gc.enable()


def _refresh_if_new(refresh: Callable[[Any], None]) -> Callable[[Any], None]:
    """What reads the registries of Numba, but only if something was added since the last time.

    Numba calls it for every function and for every name that it does not know.
    """
    read: dict[int, tuple[int, ...]] = {}

    def refresh_if_new(owner: Any) -> None:
        if read.get(id(owner)) != _registered():
            refresh(owner)
            read[id(owner)] = _registered()

    return refresh_if_new


def _registered() -> tuple[int, ...]:
    """How many implementations and types Numba's registries have."""
    code, kinds = imputils.builtin_registry, templates.builtin_registry
    lists = (code.functions, code.getattrs, code.setattrs, code.casts, code.constants)
    return tuple(map(len, (*lists, kinds.functions, kinds.attributes, kinds.globals)))


def compile_bitcode(functions: Mapping[str, Callable[..., None]], inlines_tests: bool) -> bytes:
    """One module of some functions and of all that they call.

    Args:
        functions: By the symbol that each gets; each takes the slots as integers and as floats.
        inlines_tests: Whether to inline the test for counted memory. Most arrays belong to the
            caller and are not counted. Functions with many arrays become faster, those with few
            become slower.
    """
    module, linked = llvm.parse_assembly(""), set[int]()
    for symbol, function in functions.items():
        compiled = _overload(function)
        _link(module, compiled.library, linked, inlines_tests)
        module.link_in(llvm.parse_assembly(_caller(symbol, compiled)))
    hide_all_but(module, set(functions))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    machine = llvm.Target.from_default_triple().create_target_machine()
    options = llvm.create_pipeline_tuning_options(0)
    passes.run(module, llvm.create_pass_builder(machine, options))
    return cast(bytes, module.as_bitcode())


def _overload(function: Callable[..., None]) -> Any:
    compiled = njit(error_model="numpy")(function)
    compiled.compile(SIGNATURE)
    return compiled.overloads[SIGNATURE.args]


def _link(module: Any, library: Any, linked: set[int], inlines_tests: bool) -> None:
    """Link a library and all that it calls into a module, each once."""
    if id(library) in linked:
        return
    linked.add(id(library))
    final = library._final_module
    own = _with_inline_tests(final) if inlines_tests else final.clone()
    for each in own.functions:
        if not each.is_declaration and each.linkage == llvm.Linkage.external:
            each.linkage = "weak_odr"  # kept although nothing refers to it yet; may occur twice
    module.link_in(own)
    for each in library._linking_libraries:
        _link(module, each, linked, inlines_tests)


def _with_inline_tests(module: Any) -> Any:
    """A copy of a module. If it counts references, the test for counted memory is inlined."""
    text, tests = str(module), ""
    for name in ("NRT_incref", "NRT_decref"):
        if f"@{name}(" not in text or module.get_function(name).is_declaration:
            return module.clone()
        text = text.replace(f"@{name}(", f"@{name}_counted(")
        tests += INLINE_TEST.format(name=name)
    return llvm.parse_assembly(text + tests)


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
