from gputide.exporter.owners.ports import OwnerSourceError


def test_an_error_names_the_source_and_the_problem() -> None:
    error = OwnerSourceError("Kubernetes API", "may not read pods")

    assert str(error) == "Kubernetes API: may not read pods"
    assert (error.source, error.problem, error.exit_code) == (
        "Kubernetes API",
        "may not read pods",
        1,
    )
