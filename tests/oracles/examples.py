"""How hypothesis runs here: the same examples every time, as long as they take."""

from hypothesis import HealthCheck, settings

REPEATABLE = settings(
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
