"""Check links that lead out of the repository: their spelling and, with --fetch, their answer.

Without a network it finds links that are not https, hosts that are not in HOSTS, and one address
written in two ways. CI runs it with --fetch.
"""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[1]
TEXTS = (".md", ".rst", ".cff", ".toml", ".txt", ".yml", ".yaml")
HOSTS = {
    "amices.org",
    "img.shields.io",
    "keepachangelog.com",
    "pypi.org",
    "rstudio.github.io",
    "scientific-python.org",
    "semver.org",
    "www.bnlearn.com",
}
LINK = re.compile(r"https?://[^\s\])>\"'`<|]+")
SECONDS = 20


def links_in(text: str) -> list[str]:
    """The addresses in a text, without the punctuation after them.

    >>> links_in("See <https://pypi.org/project/pip>, or (https://keepachangelog.com).")
    ['https://pypi.org/project/pip', 'https://keepachangelog.com']
    """
    return [link.rstrip(".,;:") for link in LINK.findall(text)]


def problems(links: Mapping[str, Iterable[str]]) -> list[str]:
    """What is wrong with how links are written; each comes with the files that it is in.

    >>> problems({"http://pypi.org/a": ["x.md"]})
    ['x.md: http://pypi.org/a: not https']
    >>> problems({"https://pipy.org/": ["x.md"]})
    ["x.md: https://pipy.org/: host 'pipy.org' is not in HOSTS of scripts/check_links.py"]
    """
    found = []
    spellings = defaultdict(list)
    for link, files in links.items():
        parts = urlsplit(link)
        told = f"{', '.join(files)}: {link}: "
        if parts.scheme != "https":
            found.append(f"{told}not https")
        if parts.hostname not in HOSTS:
            found.append(f"{told}host {parts.hostname!r} is not in HOSTS of scripts/check_links.py")
        spellings[parts.netloc.removeprefix("www."), parts.path.rstrip("/"), parts.query].append(
            link
        )
    return found + [
        f"{', '.join(same)}: one address in two spellings"
        for same in spellings.values()
        if len({link.partition("#")[0] for link in same}) > 1
    ]


def collected() -> dict[str, list[str]]:
    """Every link in the texts of the repository, with its files."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    links: dict[str, list[str]] = defaultdict(list)
    for name in listed:
        is_text = name.endswith(TEXTS) or name == "NOTICE"
        if is_text and not name.startswith(("tests/", "fuzz/")) and (ROOT / name).exists():
            for link in dict.fromkeys(links_in((ROOT / name).read_text(encoding="utf-8"))):
                if "{" not in link:  # a template, filled in by another program
                    links[link].append(name)
    return dict(links)


def answer(link: str) -> str:
    """What is wrong with what an address answers; nothing if it answers."""
    request = Request(link, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urlopen(request, timeout=SECONDS):
            return ""
    except HTTPError as error:
        return "" if error.code in (403, 429) else f"answers {error.code}"  # asks for a person
    except (URLError, TimeoutError) as error:
        return f"no answer: {getattr(error, 'reason', error)}"


def main() -> int:
    """Print what is wrong; the exit status is 1 if anything is."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--fetch", action="store_true", help="also ask each address (network)")
    options = parser.parse_args()
    links = collected()
    found = problems(links)
    if options.fetch:
        found += [f"{link}: {told}" for link in links if (told := answer(link))]
    for line in found:
        print(line)
    asked = "asked" if options.fetch else "looked at, none asked"
    print(f"{len(links)} addresses {asked}, {len(found)} problems", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
