"""GeNIe's XDSL: a CPT lists its numbers with the child fastest and the first parent slowest.

Read are nodes with a CPT, noisy-MAX nodes (`lacunet.network.formats.xdsl_noisy_max`) and
deterministic nodes, whose CPTs hold ones and zeros. Networks with time slices are refused; GeNIe
also writes an empty ``<dynamic>`` into networks without.

pyAgrum writes and reads the first parent fastest: its files are told by their ``app`` and read as
it means them.
"""

from __future__ import annotations

from lacunet.network.formats.draft import (
    AxisOrder,
    Declared,
    Family,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    from_states,
    is_identifier,
    refuse,
    rows_without_data,
    warn_of_agrum,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source, numerals, read_numbers
from lacunet.network.formats.xdsl_noisy_max import (
    REVERSED,
    first_is_absent,
    is_noisy,
    noisy_max_lines,
    read_noisy_max,
    with_reversed_states,
)
from lacunet.network.formats.xml_tree import Element, attribute, parse_xml, tagged
from lacunet.network.network import Network
from lacunet.network.shapes.shape import Shape

# GeNIe wants parents before their children. Where that is not the network's own order, this
# user property of each node keeps it.
_POSITION = "lacunet_position"
_UNSUPPORTED = "lacunet_unsupported"  # the user property that numbers CPT rows without data
_READ = ("cpt", "deterministic", "noisymax")
_OUTER = (
    "nodes",
    "dynamic",
    "extensions",
    "properties",
    "property",
    "cases",
    "observationcost",
)
_KNOWN = (
    "state",
    "parents",
    "probabilities",
    "resultingstates",
    "strengths",
    "parameters",
    "property",
)


def parse(source: Source) -> Network:
    """The network that an XDSL text describes."""
    root = parse_xml(source, "smile")
    root.check(_OUTER)
    _refuse_slices(root)
    nodes = root.only("nodes").children
    for node in nodes:
        if node.tag not in _READ:
            raise FormatError(
                f"{node.location}: node {node.attributes.get('id')!r} is of the type {node.tag!r}.",
                "let GeNIe turn it into a node with a CPT, then save again.",
            )
    variables = declare(source, [_variable(node) for node in _in_order(nodes)])
    order: AxisOrder = "reversed" if _is_agrum(root) else "parents first"
    if order == "reversed" and any(len(_parents(node)) > 1 for node in nodes):
        warn_of_agrum(source.name)
    shapes: dict[str, Shape] = {}
    network = assemble(variables, (_family(node, variables, order, shapes) for node in nodes))
    backwards = [node.attribute("id") for node in nodes if _noted(node, REVERSED)]
    return with_reversed_states(network.with_shapes(shapes), backwards)


def _refuse_slices(root: Element) -> None:
    """Refuse a network over time: its ``<dynamic>`` holds how a slice depends on earlier ones."""
    for dynamic in root.all("dynamic"):
        if dynamic.children:
            raise FormatError(
                f"{dynamic.location}: the network has time slices (<dynamic>).",
                "let GeNIe unroll it over its time slices, then save again.",
            )


def _is_agrum(root: Element) -> bool:
    programs = (genie for extensions in root.all("extensions") for genie in extensions.all("genie"))
    return any(program.attributes.get("app", "").startswith("aGrUM") for program in programs)


def _parents(node: Element) -> list[str]:
    parents = node.at_most_one("parents")
    return parents.text.split() if parents else []


def _in_order(nodes: list[Element]) -> list[Element]:
    """The nodes in the order that we noted when we wrote them, else as they stand."""
    noted = [(each.text, node) for node in nodes for each in _noted(node, _POSITION)]
    positions = sorted(text for text, _ in noted)
    if positions != sorted(str(index) for index in range(len(nodes))):
        return nodes
    return [node for _, node in sorted(noted, key=lambda pair: int(pair[0]))]


def _noted(node: Element, name: str) -> list[Element]:
    """The user properties of a node that have a name."""
    return [element for element in node.all("property") if element.attributes.get("id") == name]


def _variable(node: Element) -> Declared:
    node.check(_KNOWN)
    states = tuple(state.attribute("id") for state in node.all("state"))
    unsupported = ((element.text, element.location) for element in _noted(node, _UNSUPPORTED))
    return Declared(node.attribute("id"), states, node.location, next(unsupported, None))


def _family(
    node: Element, variables: Variables, order: AxisOrder, shapes: dict[str, Shape]
) -> Family:
    """The family of a node; if it is a noisy-MAX, ``shapes`` has that."""
    members = family(variables, node.attribute("id"), _parents(node), node.location)
    if node.tag == "deterministic":
        results = node.only("resultingstates")
        return from_states(members, results.text.split(), results.location, order)
    if node.tag == "noisymax":
        members, shape = read_noisy_max(node, members)
        if shape is not None:
            shapes[members.child] = shape
        return members
    if (wrong := node.at_most_one("resultingstates")) is not None:
        raise FormatError.syntax(wrong.location, "<resultingstates>", "<probabilities>")
    numbers = node.at_most_one("probabilities")
    if numbers is None:
        return members
    numbers.check([], has_text=True)
    return from_flat(members, read_numbers(numbers.text, numbers.location, members.child), order)


def render(network: Network) -> str:
    """The XDSL text of a network whose names are GeNIe's identifiers."""
    refuse(network, "XDSL", ".bif or .json", _fits, _fits, needs_cpts=True)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<smile version="1.0" id="Network" numsamples="1000">',
        "  <nodes>",
    ]
    position_of = {name: index for index, name in enumerate(network.variables)}
    is_sorted = all(position_of[tail] < position_of[head] for tail, head in network.edges)
    written = network.variables if is_sorted else network.order
    noisy = [name for name in network.shapes_of if is_noisy(network, name)]
    backwards = [name for name in noisy if first_is_absent(network, name)]
    turned = with_reversed_states(network, backwards)
    for variable in written:
        tag = "noisymax" if variable in noisy else "cpt"
        lines.append(f"    <{tag} {attribute('id', variable)}>")
        lines += _cpt_lines(turned, variable, is_noisy_max=variable in noisy)
        if variable in backwards:
            lines.append(f'      <property id="{REVERSED}">yes</property>')
        if not is_sorted:
            lines.append(f'      <property id="{_POSITION}">{position_of[variable]}</property>')
        if (rows := rows_without_data(turned, variable)) is not None:
            lines.append(f'      <property id="{_UNSUPPORTED}">{rows}</property>')
        lines.append(f"    </{tag}>")
    # GeNIe and pyAgrum look for the names that they show in the extensions.
    lines += ["  </nodes>", "  <extensions>"]
    lines.append('    <genie version="1.0" app="lacunet" name="Network">')
    for name in written:
        node = f"<node {attribute('id', name)}>{tagged('name', name)}</node>"
        lines.append(f"      {node}")
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>", ""])


def _cpt_lines(network: Network, variable: str, *, is_noisy_max: bool) -> list[str]:
    """The states of a node, its parents and its CPT."""
    lines = [f"      <state {attribute('id', state)} />" for state in network.states(variable)]
    parents = network.parents(variable)
    if parents:
        lines.append(f"      {tagged('parents', ' '.join(parents))}")
    if is_noisy_max:
        return lines + noisy_max_lines(network, variable)
    numbers = numerals(network.cpt(variable).table.ravel())
    return [*lines, f"      {tagged('probabilities', numbers)}"]


def _fits(name: str) -> bool:
    return is_identifier(name) and not name.startswith("_")
