"""Object files: machine code that LLVM makes of bitcode, for this machine or another one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import llvmlite.binding as llvm

# What a kernel may leave to the linker: memory (native.c), and functions whose bits every C library
# agrees on. Sines would have other bits on another system, and fused products on a processor.
LINKED = re.compile(r"NRT_MemInfo_(alloc_aligned|call_dtor)|mem(cpy|set|move)|sqrt|floor|ceil|fabs")
INEXACT = re.compile(
    r"llvm\.(sin|cos|tan|a(sin|cos|tan)|pow|exp(?!erimental\.noalias)|log|fma|fmuladd)"
)


class Processor(NamedTuple):
    """What code is compiled for, in LLVM's words.

    Attributes:
        triple: The machine.
        cpu: The level of processors.
        features: What it has beyond that level.
    """

    triple: str
    cpu: str
    features: str = ""


def optimise(
    bitcode: bytes, processor: Processor, symbols: Mapping[str, str], simplified: bool = True
) -> bytes:
    """Bitcode as it should be assembled, for a processor.

    Args:
        bitcode: Of functions and all that they call.
        processor: What to compile for.
        symbols: The functions to keep, with the names that they get.
        simplified: Whether each function was simplified by itself before.

    Raises:
        RuntimeError: A function is left to the C library whose bits are not the same everywhere.
    """
    machine, module = _read(bitcode, processor)
    hide_all_but(module, set(symbols))
    for symbol, name in symbols.items():
        module.get_function(symbol).name = name
    if not simplified:
        _simplify_functions(module, machine)
    builder = _builder(machine)
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()
    passes.run(module, builder)  # a second round gains 2 % of speed for half of the time again
    _check_linked(each.name for each in module.functions if each.is_declaration)
    return cast(bytes, module.as_bitcode())


def hide_all_but(module: Any, symbols: set[str]) -> None:
    """Make all other functions and variables of a module internal, so that unused ones go."""
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in symbols:
            each.linkage = "internal"


def _check_linked(names: Iterable[str]) -> None:
    for name in names:
        exact = not INEXACT.match(name) if name.startswith("llvm.") else LINKED.fullmatch(name)
        if not exact:
            raise RuntimeError(f"a kernel calls {name}, whose bits differ between systems")


def _simplify_functions(module: Any, machine: Any) -> None:
    for each in module.functions:
        if not each.is_declaration:
            builder = _builder(machine)
            passes = builder.getFunctionPassManager()
            passes.add_refprune_pass()
            passes.run(each, builder)


def assemble(optimised: bytes, processor: Processor) -> bytes:
    """The object file of optimised bitcode, for a system with the processors it was made for."""
    machine, module = _read(optimised, processor)
    return cast(bytes, machine.emit_object(module))


def _read(bitcode: bytes, processor: Processor) -> tuple[Any, Any]:
    """What compiles for a processor, and the module with the sizes and addresses that it has."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(processor.triple).create_target_machine(
        cpu=processor.cpu, features=processor.features, opt=3, reloc="pic", codemodel="default"
    )
    module = llvm.parse_bitcode(bitcode)
    module.triple, module.data_layout = processor.triple, str(machine.target_data)
    return machine, module


def _builder(machine: Any) -> Any:
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
