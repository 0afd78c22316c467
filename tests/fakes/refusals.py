"""What a call is refused with."""

from collections.abc import Callable

from gputide.kubeapi.errors import StatusError


def code_of(call: Callable[[], object]) -> int | None:
    """Return the code that the call is refused with, None where it is not."""
    try:
        call()
    except StatusError as error:
        return error.code
    return None
