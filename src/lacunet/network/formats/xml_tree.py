"""XML elements that know their line.

The standard library's trees forget where an element stood, and a message without a line is
of little help in a file of ten thousand. Entities of the file's own making are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source

_BLANKS = " \t\r\n"


@dataclass
class Element:
    """An element, grown while the text is read."""

    tag: str
    attributes: dict[str, str]
    location: str
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly inside, without blanks around it."""
        return "".join(self.pieces).strip(_BLANKS)

    def all(self, tag: str) -> Iterator[Element]:
        """The children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def only(self, tag: str) -> Element:
        """The only child with a tag."""
        child = self.at_most_one(tag)
        if child is None:
            raise FormatError.syntax(
                self.location, f"<{self.tag}>", f"<{self.tag}> with one <{tag}>"
            )
        return child

    def at_most_one(self, tag: str) -> Element | None:
        """The only child with a tag, or None."""
        children = [*self.all(tag)]
        if len(children) > 1:
            raise FormatError.syntax(self.location, f"several <{tag}>", "one")
        return children[0] if children else None

    def attribute(self, key: str) -> str:
        """An attribute that must be there."""
        if key not in self.attributes:
            raise FormatError.syntax(self.location, f"<{self.tag}>", f"its attribute {key!r}")
        return self.attributes[key]

    def check(self, children: Iterable[str], has_text: bool = False) -> None:
        """Refuse children that nobody reads, and text where none belongs."""
        known = set(children)
        for child in self.children:
            if child.tag not in known:
                wanted = ", ".join(f"<{tag}>" for tag in sorted(known)) or "no element"
                raise FormatError.syntax(child.location, f"<{child.tag}>", wanted)
        if self.text and not has_text:
            raise FormatError.syntax(
                self.location, self.text[:30], f"only elements in <{self.tag}>"
            )


def parse_xml(source: Source, root: str) -> Element:
    """The tree of an XML text whose outermost element is ``root``."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    stack = [Element("", {}, source.name)]  # the elements that are open, each below the one before

    def location() -> str:
        return f"{source.name}:{parser.CurrentLineNumber}"

    def start(tag: str, attributes: dict[str, str]) -> None:
        stack.append(Element(tag, attributes, location()))
        stack[-2].children.append(stack[-1])

    def add_text(text: str) -> None:
        stack[-1].pieces.append(text)

    def refuse_entity(entity: str, *_: object) -> None:
        raise FormatError(
            f"{location()}: the file uses an entity of its own, {entity!r}.",
            "replace the entity by its text.",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.CharacterDataHandler = add_text
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity  # one that only an outer DTD could define
    try:
        parser.Parse(source.text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise FormatError.unsound(f"{source.name}:{error.lineno}", "XML", error) from None
    outermost = stack[0].children[0]
    if outermost.tag != root:
        raise FormatError.syntax(outermost.location, f"<{outermost.tag}>", f"<{root}>")
    return outermost


def tagged(tag: str, text: str) -> str:
    """An element with a text inside."""
    from xml.sax.saxutils import escape  # imports urllib

    return f"<{tag}>{escape(text)}</{tag}>"


def attribute(key: str, value: str) -> str:
    """An attribute with its value in quotes."""
    from xml.sax.saxutils import quoteattr

    return f"{key}={quoteattr(value)}"
