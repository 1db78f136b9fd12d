"""Object files: machine code that LLVM makes of bitcode, for this machine or another one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import llvmlite.binding as llvm

from jointwise.kernels._numba.bitcode import hide_all_but

# What a kernel may leave to the linker: memory (native.c), and functions with the same bits in every
# C library. Others would have other bits on another system, and fused products on a processor.
LINKED = re.compile(r"NRT_MemInfo_(alloc_aligned|call_dtor)|mem(cpy|set|move)|sqrt|floor|ceil|fabs")
INEXACT = re.compile(r"llvm\.(sin|cos|tan|a(sin|cos|tan)|pow|exp|log|fma|fmuladd)")


def optimise(bitcode: bytes, triple: str, cpu: str, symbols: Mapping[str, str]) -> bytes:
    """Bitcode as it should be assembled, for a level of processors.

    Args:
        bitcode: Of functions and all that they call.
        triple: The machine, as LLVM names it.
        cpu: The level of processors, as LLVM names it.
        symbols: The functions to keep, with the names that they get.

    Raises:
        RuntimeError: A function is left to the C library whose bits are not the same everywhere.
    """
    machine, module = _machine(triple, cpu), llvm.parse_bitcode(bitcode)
    module.triple, module.data_layout = triple, str(machine.target_data)
    hide_all_but(module, set(symbols))
    for symbol, name in symbols.items():
        module.get_function(symbol).name = name
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()  # once functions are inlined, counts of references cancel
    passes.run(module, builder)
    _check_linked(each.name for each in module.functions if each.is_declaration)
    return cast(bytes, module.as_bitcode())


def _check_linked(names: Iterable[str]) -> None:
    for name in names:
        exact = not INEXACT.match(name) if name.startswith("llvm.") else LINKED.fullmatch(name)
        if not exact:
            raise RuntimeError(f"a kernel calls {name}, whose bits differ between systems")


def assemble(optimised: bytes, triple: str, cpu: str) -> bytes:
    """The object file of optimised bitcode, for a system with the processors it was made for."""
    machine, module = _machine(triple, cpu), llvm.parse_bitcode(optimised)
    module.triple, module.data_layout = triple, str(machine.target_data)
    return cast(bytes, machine.emit_object(module))


def _machine(triple: str, cpu: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, opt=3, reloc="pic", codemodel="default")
