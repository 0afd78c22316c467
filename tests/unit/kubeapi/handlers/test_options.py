from datetime import UTC, datetime

import pytest

from fakes.refusals import code_of
from gputide.kubeapi.handlers.options import WriteOptions, is_dry_run, strict_error, write_options

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def options(**query: str) -> WriteOptions:
    return write_options(query, user_agent="kubectl/v1.37 (linux)", now=NOW)


def test_the_manager_is_the_program_where_the_client_does_not_say() -> None:
    assert (options().manager, options().is_manager_stated) == ("kubectl", False)
    stated = options(fieldManager="mine")
    assert (stated.manager, stated.is_manager_stated) == ("mine", True)
    assert write_options({}, user_agent="", now=NOW).manager == "unknown"


def test_a_dry_run_is_all_or_nothing() -> None:
    assert options(dryRun="All").is_dry_run
    assert not options().is_dry_run
    assert is_dry_run("", "All")


@pytest.mark.parametrize(
    "query",
    [{"dryRun": "Some"}, {"fieldValidation": "Maybe"}, {"fieldManager": "x" * 129}],
)
def test_a_value_that_is_none_is_a_422(query: dict[str, str]) -> None:
    assert code_of(lambda: options(**query)) == 422


def test_a_strict_refusal_names_every_field() -> None:
    error = strict_error("Box", "v1", ['unknown field "a"', 'duplicate field "b"'])
    assert error.message == (
        'Box in version "v1" cannot be handled as a Box: strict decoding error: '
        'unknown field "a", duplicate field "b"'
    )
