"""Laws meet the same examples every time; ``--hypothesis-profile=explore`` looks further."""

import os
import tempfile
from hashlib import sha256
from pathlib import Path

# Numba keeps compiled code per file and would not notice that a function called from
# another file has changed; so each state of the kernels has a cache of its own.
SOURCES = sorted((Path(__file__).parent.parent / "src/jointwise/kernels").glob("*.py"))
STATE = sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:12]
os.environ.setdefault("NUMBA_CACHE_DIR", f"{tempfile.gettempdir()}/jointwise-kernels-{STATE}")

from hypothesis import HealthCheck, settings  # noqa: E402

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=5000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("same")
