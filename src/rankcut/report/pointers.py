"""From a sample's name to what a person can look at: a link, or a small picture inside the page."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote, urlsplit

from rankcut.errors import InputError
from rankcut.report.shell import Html

KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
LARGEST = 300_000  # bytes of a picture; the page holds them all


@dataclass(frozen=True)
class Pointers:
    """Templates with {id}: an address to link to, and a local picture file to show."""

    link: str | None = None
    thumbnail: str | None = None

    def __post_init__(self) -> None:
        for name in ("link", "thumbnail"):
            template = getattr(self, name)
            if template is not None and "{id}" not in template:
                raise InputError(f"{name}: came as {template!r}; write {{id}} where the sample's name goes")
        if self.link is not None and urlsplit(self.link).scheme not in ("", "http", "https", "file"):
            raise InputError(f"link: came as {self.link!r}; pass an http(s) address or a relative one")

    def cell(self, name: str) -> str:
        """The name, linked and with its picture as far as there are any."""
        shown = escape(name)
        if self.link is not None:
            address = self.link.replace("{id}", quote(name, safe=""))
            shown = f'<a href="{escape(address)}" rel="noopener noreferrer">{shown}</a>'
        if self.thumbnail is not None:
            shown += self._picture(name)
        return Html(shown)

    def _picture(self, name: str) -> str:
        assert self.thumbnail is not None
        path = Path(self.thumbnail.replace("{id}", name))
        kind = KINDS.get(path.suffix.lower())
        try:
            if kind is None or path.stat().st_size > LARGEST:
                return ""
            content = base64.b64encode(path.read_bytes()).decode()
        except (OSError, ValueError):
            return ""  # a sample without a picture is shown by its name
        return f'<img alt="" src="data:image/{kind};base64,{content}">'
