"""One line on standard error when kernels are compiled, which takes a while."""

import sys
from typing import Any

NOTICE = (
    "jointwise: compiling for this processor, 10 to 40 s; later runs load the result from a cache."
)


class CompileNotice:
    """Prints ``NOTICE`` once in a process, when Numba begins to compile one of our kernels."""

    def __init__(self) -> None:
        self.printed = False

    def on_event(self, data: Any) -> None:
        """Numba compiles a function, which it did not find in its cache."""
        function = getattr((data or {}).get("dispatcher"), "py_func", None)
        ours = str(getattr(function, "__module__", "")).startswith("jointwise.")
        if ours and not self.printed and sys.stderr is not None:
            self.printed = True
            print(NOTICE, file=sys.stderr, flush=True)


COMPILE_NOTICE = CompileNotice()


def register_notice() -> None:
    """Tell Numba to announce compilation; without its events, nothing is printed."""
    try:
        from numba.core import event
    except ImportError:
        return

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            COMPILE_NOTICE.on_event(event.data)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
