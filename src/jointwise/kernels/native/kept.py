"""Files that are kept between runs, in the system's folder for caches."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

# The folder, if it is another one.
VARIABLE = "JOINTWISE_CACHE_DIR"
# What no build has used for so long is removed [s].
KEPT_FOR = 30 * 24 * 3600.0


def cache_folder() -> Path:
    """The folder of all that jointwise keeps between runs."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE])
    home = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    return Path(home) / "jointwise" if home else Path.home() / ".cache" / "jointwise"


def remove_unused(folder: Path) -> None:
    """Remove files of a folder that no build has used for a month."""
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # another build has removed it
            if time() - file.stat().st_mtime > KEPT_FOR:
                file.unlink()


def replace(file: Path, content: bytes) -> None:
    """Write a file at once: another process may read or write it, or have it loaded."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".building-")
    try:
        with os.fdopen(descriptor, "wb") as temporary:
            temporary.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
