"""The commands by name, as data: what `gputide --help` lists, without loading any of them."""

from dataclasses import dataclass
from textwrap import fill

SUMMARY = "GPU observability, and an autoscaler that scales GPU workloads ahead of their load."


@dataclass(frozen=True, slots=True)
class Command:
    """Where a command lives and what it is for."""

    target: str
    """`module:function`, imported when the command is asked for."""

    help: str
    is_group: bool = False
    """Whether the target is an App with commands of its own."""


COMMANDS = {
    "agent": Command(
        "gputide.cli.agent:app",
        "Connect a site's nodes to the gateways; dials out alone.",
        is_group=True,
    ),
    "apply": Command(
        "gputide.cli.apply:apply",
        "Apply manifests by server-side apply; say of each object what became of it.",
    ),
    "autoscaler": Command(
        "gputide.cli.autoscaler:autoscaler",
        "Scale workloads ahead of their load, as their AdvancedHorizontalPodAutoscalers ask.",
    ),
    "backtest": Command(
        "gputide.cli.backtest:backtest",
        "Replay recorded load: what each policy would have cost, and where it would have hurt.",
    ),
    "doctor": Command(
        "gputide.cli.doctor:doctor",
        "Walk the way of an edge node's scrape; name the broken hop and what would mend it.",
    ),
    "exporter": Command(
        "gputide.cli.exporter:exporter",
        "Serve the metrics of this node's GPUs to Prometheus.",
    ),
    "forecast": Command(
        "gputide.cli.forecast:forecast",
        "Forecast recorded load: the next hours as numbers, and whether to trust them.",
    ),
    "gateway": Command(
        "gputide.cli.gateway:app",
        "Serve edge nodes by name to Prometheus; agents dial in.",
        is_group=True,
    ),
    "get": Command(
        "gputide.cli.get:get",
        "Show autoscalers as kubectl does: demand, pods wanted and running, bounds in force.",
    ),
    "gpus": Command(
        "gputide.cli.gpus:gpus",
        "Show this node's GPUs, the processes on them and the pods that hold them.",
    ),
    "metricsapi": Command(
        "gputide.cli.metricsapi:app",
        "Serve custom, external and prediction metrics as an aggregated API server.",
        is_group=True,
    ),
    "report": Command(
        "gputide.cli.report:report",
        "Write an autoscaler's page: what was, what was foreseen, and what comes.",
    ),
}


def overview(*, columns: int = 80) -> str:
    """Return what `gputide --help` prints, at most so many columns wide."""
    entries = {name: command.help for name, command in COMMANDS.items()}
    indent = max(map(len, entries)) + 4
    lines = [
        fill(
            text, columns, initial_indent=f"  {name}".ljust(indent), subsequent_indent=indent * " "
        )
        for name, text in entries.items()
    ]
    return "\n".join(
        [
            "Usage: gputide COMMAND [OPTIONS]",
            "",
            fill(SUMMARY, columns),
            "",
            "Commands:",
            *lines,
            "",
            fill("`gputide COMMAND --help` lists a command's options.", columns),
            fill("`gputide --version` prints the version.", columns),
            "",
        ]
    )
