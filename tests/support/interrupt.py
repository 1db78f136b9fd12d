"""A program that is interrupted."""

import signal
import subprocess
import sys

# Far more than an interrupted program needs on a busy machine [s].
LIMIT_S = 300


def assert_ctrl_c_ends(code, begun):
    """Run a program, send it SIGINT once it has printed a line, and see that it ends."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", code], **pipes)
    try:
        assert process.stdout.readline() == f"{begun}\n"
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
        process.communicate()
    assert printed == ""
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
