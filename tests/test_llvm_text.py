"""The text that NVVM compiles: golden examples, which need no GPU."""

from jointwise.kernels._numba.llvm_text import keep_calls, unroll_loops

LOOP = """\
define void @kernel(double* %x) {
entry:
  br label %"loop.1"
"loop.1":                                         ; preds = %body, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %c = icmp slt i64 %i, 7
  br i1 %c, label %body, label %exit
body:
  %a = fmul double %p, 0.000000e+00
  %b = fadd double %a, %q
  %next = add i64 %i, 1
  br label %"loop.1"
exit:
  ret void
}
define void @other() {
entry:
  br label %body
body:
  %r = fdiv float %s, %t
  %u = frem double %v, %w
  br label %body, !dbg !3
}
"""

UNROLLED = """\
define void @kernel(double* %x) {
entry:
  br label %"loop.1"
"loop.1":                                         ; preds = %body, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %c = icmp slt i64 %i, 7
  br i1 %c, label %body, label %exit
body:
  %a = fmul nnan ninf nsz double %p, 0.000000e+00
  %b = fadd nnan ninf nsz double %a, %q
  %next = add i64 %i, 1
  br label %"loop.1", !llvm.loop !900001
exit:
  ret void
}
define void @other() {
entry:
  br label %body
body:
  %r = fdiv nnan ninf nsz float %s, %t
  %u = frem double %v, %w
  br label %body, !dbg !3
}
!900001 = distinct !{!900001, !900000}
!900000 = !{!"llvm.loop.unroll.full"}
"""


def test_backward_branches_are_marked_and_arithmetic_is_finite():
    assert unroll_loops(LOOP) == UNROLLED


def test_labels_of_one_function_do_not_mark_branches_of_another():
    text = "define void @a() {\nx:\n  ret void\n}\ndefine void @b() {\n  br label %x\nx:\n}\n"
    assert unroll_loops(text) == text


def test_every_loop_gets_its_own_node():
    loop = "x{0}:\n  br label %x{0}\n"
    text = "define void @a() {\n" + "".join(loop.format(i) for i in range(3)) + "}\n"
    marked = unroll_loops(text)
    assert [f"!llvm.loop !{900001 + i}" in marked for i in range(4)] == [True, True, True, False]


def test_the_text_of_a_real_kernel_is_still_a_module():
    """LLVM itself reads the edited text of a compiled function with loops."""
    import llvmlite.binding as llvm
    import numba

    def total(values):
        result = 0.0
        for value in values:
            result += value * 2.0
        return result

    compiled = numba.njit(total)
    compiled.compile("float64(float64[::1])")
    text = next(iter(compiled.inspect_llvm().values()))
    module = llvm.parse_assembly(unroll_loops(text))
    module.verify()
    assert str(module).count("llvm.loop.unroll.full") == 1
    assert "fadd nnan ninf nsz double" in str(module)


def test_calls_are_kept_and_modules_handed_over_once():
    kept = 'define linkonce_odr i32 @"_ZN2lm7tree_lmB3v19B4abcd"(i8** %".ret")'
    other = "define void @_ZN2lm11tree_lm_twoB3v19()"
    body = "{\n  ret void\n}\n"
    texts = [f"{kept}\n{body}", f"{other}\n{body}", f"{kept}\n{body}"]
    assert keep_calls(texts, ("tree_lm",)) == [f"{kept} noinline\n{body}", f"{other}\n{body}"]
