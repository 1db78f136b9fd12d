"""Laws meet the same examples every time; ``--hypothesis-profile=explore`` looks further."""

from hypothesis import HealthCheck, settings

from jointwise.kernels._numba.notice import COMPILE_NOTICE

COMPILE_NOTICE.printed = True  # tests compare standard error, whatever is compiled meanwhile

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=5000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("same")
