"""Calls that fail or end their process: whose failure it is, where a fork is a copy and where none can be."""

import pytest
from own_cases import capture

# Factory of own_ends.py, mode, and what is said of it: status, words of the detail.
ENDS = [
    ("exits", "eval", "failed_eager", "sys.exit('no licence key found')"),
    ("exits", "recompile", "failed_eager", "sys.exit("),
    ("exits", "export", "failed_eager", "sys.exit("),
    ("is_interrupted", "eval", "failed_eager", "KeyboardInterrupt: enough"),
    ("leaves_without_an_error", "eval", "crashed", "exit code 0 without a result"),
]


@pytest.mark.parametrize("busy", ["", "busy_"], ids=["apart", "beside a thread"])
@pytest.mark.parametrize("name, mode, status, words", ENDS, ids=[f"{name}-{mode}" for name, mode, *_ in ENDS])
def test_a_call_that_fails_is_no_failure_of_the_compiler(allowing, name, mode, status, words, busy):
    result = capture(allowing, f"own_ends:{busy}{name}", mode)
    assert (result["status"], words in result["detail"]) == (status, True), result
