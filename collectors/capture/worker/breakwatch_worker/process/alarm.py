"""A time limit for code in the main thread."""

import contextlib
import signal


@contextlib.contextmanager
def raising_after(seconds: float, error: BaseException, again_s: float = 0.0):
    """Raises `error` in the code inside this context after so many seconds, once Python can run a signal handler; 0:
    never. Raises it again every `again_s` seconds, in case the code swallows the first; 0: once only."""
    def late(*_):
        raise error

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, again_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
