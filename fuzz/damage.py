"""Ways to damage a file, and how often each is taken."""

from __future__ import annotations

import random

TOKENS = (
    b'"', b"\\", b"(", b")", b"{", b"}", b"[", b"]", b"<", b">", b",", b";", b"|", b"/*", b"*/",
    b"//", b"%", b"#", b"\n", b"\r", b"\t", b"\x00", b"\x1b", b"\xff", b"\xc3\xa9", b"&amp;",
    b"&x;", b"nan", b"1e999", b"-1", b"0", b"1", b"0.5", b"999999999", b"default", b"table",
    b"null", b"NA", b"''", b"=", b":", b"\xef\xbb\xbf",
)  # fmt: skip
LENGTHS = (1, 1, 1, 2, 4, 8, 30, 200)


def damaged(content: bytes, rng: random.Random, times: int | None = None) -> bytes:
    """The content with some parts deleted, doubled, moved, swapped, replaced or cut off."""
    for _ in range(times or rng.choice((1, 1, 1, 2, 3, 6))):
        content = _once(content, rng)
    return content


def _once(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    stop = min(len(content), start + rng.choice(LENGTHS))
    part, rest = content[start:stop], content[:start] + content[stop:]
    kind = rng.randrange(10)
    if kind == 0:
        return rest
    if kind == 1:
        return content[:stop] + content[start:]
    if kind == 2:
        place = rng.randrange(len(rest) + 1)
        return rest[:place] + part + rest[place:]
    if kind == 3:
        return content[:start]
    if kind == 4:  # a whole line more, less or elsewhere
        lines = content.splitlines(keepends=True) or [b""]
        line = lines.pop(rng.randrange(len(lines)))
        for _ in range(rng.randrange(3)):
            lines.insert(rng.randrange(len(lines) + 1), line)
        return b"".join(lines)
    if kind == 5:  # two words change places
        words = content.split(b" ")
        one, two = rng.randrange(len(words)), rng.randrange(len(words))
        words[one], words[two] = words[two], words[one]
        return b" ".join(words)
    if kind in (6, 7):
        return content[:start] + rng.choice(TOKENS) + content[start + (kind == 7) :]
    noise = bytearray(part)
    for at in range(len(noise)):
        noise[at] = noise[at] ^ (1 << rng.randrange(8)) if kind == 8 else rng.randrange(256)
    return content[:start] + bytes(noise) + content[stop:]
