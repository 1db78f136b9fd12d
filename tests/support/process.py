"""Python in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def run(*arguments: object, cwd: Path = ROOT, **environment: str) -> str:
    """What Python prints, with these arguments and environment variables; it must succeed."""
    process = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout
