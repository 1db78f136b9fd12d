"""Machine code of kernels in an object file, to be linked into a library that needs no Numba.

A function of it takes the address of an array of 64-bit slots, reads its arguments from there and
writes its results there. It returns 0, or another number if memory ran out.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
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


def compile_object(functions: Mapping[str, Callable[..., None]], cpu: str) -> bytes:
    """An object file for a level of processors.

    Args:
        functions: By symbol; each takes the slots as integers and as floats.
        cpu: As LLVM calls it. Numba must be set to the same one: ``NUMBA_CPU_NAME``.
    """
    if str(nrtdynmod._meminfo_struct_type) != MEMORY_HEADER:
        raise RuntimeError("this version of Numba lays out arrays in another way")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly("")
    for symbol, function in functions.items():
        dispatcher = njit(error_model="numpy")(function)
        dispatcher.compile(SIGNATURE)
        compiled = dispatcher.overloads[SIGNATURE.args]
        module.link_in(compiled.library._final_module.clone())
        module.link_in(llvm.parse_assembly(_caller(symbol, compiled)))
    for each in module.functions:
        if not each.is_declaration and each.name not in functions:
            each.linkage = "internal"  # so that unused ones are dropped
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=cpu, opt=3, reloc="pic", codemodel="default")
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
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
