"""A small page: which agents and nodes are here, which are gone, and since when. Pure."""

from html import escape

from gputide.durations import span
from gputide.tunnel.gateway.registry import Registry, Seen

MAX_ROWS = 2000

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.gone { color: light-dark(#a40000, #ff8d85); font-weight: 600; }
.up { color: light-dark(#0b6b2d, #6fd08c); font-weight: 600; }
.scroll { overflow-x: auto; }
"""


def render_status(registry: Registry, *, name: str, now_seconds: float) -> str:
    """Return the page; it reloads itself every ten seconds."""
    nodes = registry.nodes
    gone = sum(not seen.is_up for seen in nodes.values())
    summary = f"{len(registry)} agents, {len(nodes) - gone} nodes up, {gone} gone"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="refresh" content="10">'
        f"<title>{escape(name)}: {summary}</title><style>{_STYLE}</style></head><body>"
        f"<main><h1>Gateway {escape(name)}</h1><p>{summary}.</p>"
        f"{_agents(registry, now_seconds)}{_nodes(nodes, now_seconds)}</main></body></html>"
    )


def _agents(registry: Registry, now_seconds: float) -> str:
    rows = []
    for one in sorted(registry, key=lambda one: (one.identity.site, one.name))[:MAX_ROWS]:
        trip = one.link.round_trip_seconds
        cells = (
            escape(one.name),
            escape(one.identity.site or "-"),
            escape(one.address),
            str(len(one.nodes)),
            "-" if trip is None else f"{trip * 1000:.1f} ms",
            span(now_seconds - one.since_seconds),
            str(one.link.exchange_count),
        )
        rows.append(_row(cells, numeric=(3, 4, 5, 6)))
    heads = ("Agent", "Site", "Address", "Nodes", "Round trip", "Up for", "Under way")
    return _table("Agents", heads, rows)


def _nodes(nodes: dict[str, Seen], now_seconds: float) -> str:
    rows = []
    for node, seen in sorted(nodes.items(), key=lambda item: (item[1].is_up, item[0]))[:MAX_ROWS]:
        state = (
            '<span class="up">up</span>'
            if seen.is_up
            else f'<span class="gone">gone {span(now_seconds - seen.at_seconds)}</span>'
        )
        cells = (
            escape(node),
            escape(seen.site or "-"),
            escape(seen.agent),
            state,
            escape(seen.why or "-"),
        )
        rows.append(_row(cells))
    title = "Nodes" if len(nodes) <= MAX_ROWS else f"Nodes (the first {MAX_ROWS}, gone ones first)"
    return _table(title, ("Node", "Site", "Agent", "State", "Last link ended by"), rows)


def _table(title: str, heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join(rows) or f'<tr><td colspan="{len(heads)}">none yet</td></tr>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>'
        f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        "</table></div>"
    )


def _row(cells: tuple[str, ...], numeric: tuple[int, ...] = ()) -> str:
    return (
        "<tr>"
        + "".join(
            f'<td class="n">{cell}</td>' if place in numeric else f"<td>{cell}</td>"
            for place, cell in enumerate(cells)
        )
        + "</tr>"
    )
