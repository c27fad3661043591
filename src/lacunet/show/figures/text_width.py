"""How wide a text is, before anything is drawn.

The widths are those of DejaVu Sans, which matplotlib brings and draws PDF and PNG in. It is wider
than the fonts that SVG and pages name (Helvetica, Arial, a system's own): what has room here has
room there too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

from lacunet.text_tables import ELLIPSIS

# Of the characters whose widths are listed, in thousandths of the size; then by code.
FIRST_CHARACTER = " "


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


REGULAR = _numbers("""
318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636
636 636 636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863
748 787 603 787 695 635 611 732 684 989 685 611 685 390 337 390 838 500 500 613 635 550 635
615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 392 634 592 818 592 592 525 636
337 636 838
""")
BOLD = _numbers("""
348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696
696 696 696 400 400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995
837 850 733 850 770 720 682 812 774 1103 771 724 725 457 365 457 838 500 500 675 716 593 716
678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 478 712 652 924 645 652 582 712
365 712 838
""")
OF_LETTER = {False: 800, True: 950}  # one of another alphabet; few are wider
ROUNDED = 1.03  # letters are moved to whole pixels
WIDE = 1000  # a character as wide as the line is high
ZERO_WIDTH = "Mn", "Me", "Cf"  # categories that take no room of their own


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """The width of a text in pixels, or slightly more.

    >>> text_width("iii", 12) < text_width("WWW", 12) < text_width("年年年", 12)
    True
    """
    return ROUNDED * sum(_width(sign, is_bold) for sign in text) * size / 1000


@cache
def _width(sign: str, is_bold: bool) -> int:
    widths = BOLD if is_bold else REGULAR
    index = ord(sign) - ord(FIRST_CHARACTER)
    if 0 <= index < len(widths):
        return widths[index]
    if unicodedata.category(sign) in ZERO_WIDTH:
        return 0
    if sign == ELLIPSIS or unicodedata.east_asian_width(sign) in "WF":
        return WIDE
    base = unicodedata.normalize("NFD", sign)[0]
    return _width(base, is_bold) if base != sign else OF_LETTER[is_bold]


def shorten_to_width(text: str, room: float, size: float, *, is_bold: bool = False) -> str:
    """A text without its middle, where it is wider than the room.

    >>> shorten_to_width("VENTRICULAR_VOLUME", 102, 12)
    'VENTRI…OLUME'
    """
    if text_width(text, size, is_bold=is_bold) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        start = text[: kept - kept // 2]
        end = text[len(text) - kept // 2 :]
        shorter = f"{start}{ELLIPSIS}{end}"
        if text_width(shorter, size, is_bold=is_bold) <= room:
            return shorter
    return ELLIPSIS


def wrap_words(
    words: Sequence[str], room: float, size: float, *, is_bold: bool = False
) -> list[str]:
    """Lines of words, none wider than the room; a word that is wider is a line of its own."""
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, is_bold=is_bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
