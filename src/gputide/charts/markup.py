"""HTML by construction: text is escaped unless it is already markup."""

from html import escape

VOID = frozenset({"meta", "link", "br", "hr"})


class Markup(str):
    """Text that is HTML already; everything else is escaped when it meets one."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | bool | None) -> Markup:
    """Return an element; `class_` and `aria_label` become `class` and `aria-label`.

    An attribute that is None or False is left out, True stands alone.

    >>> element("b", "1 < 2", title='"')
    '<b title="&quot;">1 &lt; 2</b>'
    """
    opening = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    if tag in VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(*children)}</{tag}>")


def join(*children: str) -> Markup:
    """Return the children one after the other, escaping what is not markup."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c, quote=False) for c in children))


def _attribute(name: str, value: str | bool | None) -> str:  # noqa: FBT001 it is what HTML has
    if value is None or value is False:
        return ""
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{escape(value)}"'
