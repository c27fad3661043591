"""A page inside a notebook: in a frame of its own, where its scripts may run and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from lacunet.show.pages.kit import write_page
from lacunet.text_tables import Displayed

HEIGHT = 720  # pixels


@dataclass(frozen=True, repr=False)
class Page(Displayed):
    """One self-contained HTML page: a notebook shows it, ``write`` keeps it."""

    text: str

    @property
    def title(self) -> str:
        """The title of the page."""
        _, _, behind = self.text.partition("<title>")
        return unescape(behind.partition("</title>")[0]) or "lacunet"

    def __repr__(self) -> str:
        size = len(self.text.encode()) / 1000
        return f"<Page of {size:,.0f} kB; a notebook shows it, .write('page.html') keeps it>"

    def _parts(self) -> list[str]:
        return [repr(self)[1:-1]]

    def _repr_html_(self) -> str:
        frame = f'style="width: 100%; height: {HEIGHT}px; border: 0"'
        allowed = 'sandbox="allow-scripts allow-downloads"'
        title = f'title="{escape(self.title)}"'
        return f'<iframe {title} {allowed} {frame} srcdoc="{escape(self.text)}"></iframe>'

    def write(self, path: str | Path) -> None:
        """Write the page to a file."""
        write_page(path, self.text)
