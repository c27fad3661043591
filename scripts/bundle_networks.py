"""Re-encode the benchmark networks for the package.

    python scripts/bundle_networks.py FOLDER

reads NAME.bif or NAME.bif.gz of every network in the catalogue from FOLDER and writes
src/lacunet/network/bundled/NAME.json.gz. Numbers stay as they are; rows whose sums are off by less
than 1e-6 are rescaled by the reader. Prints what the catalogue says of each network.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lacunet
from lacunet.network.catalogue import catalogue
from lacunet.network.formats.files import read_network, write_network

TARGET = Path(lacunet.__file__).parent / "network" / "bundled"


def source_of(name: str, folder: Path) -> Path:
    """The BIF file of a network, compressed or not."""
    plain = folder / f"{name}.bif"
    return plain if plain.exists() else folder / f"{name}.bif.gz"


def main(folder: Path) -> None:
    """Write every network of the catalogue that has a source."""
    for entry in catalogue():
        if entry.name == "screening":  # made for this package: there is no other source
            continue
        network = read_network(source_of(entry.name, folder))
        target = TARGET / f"{entry.name}.json.gz"
        write_network(network, target)
        if read_network(target) != network:
            raise SystemExit(f"{target} does not give back what was read")
        parents = [len(network.parents(name)) for name in network.variables]
        sizes = len(parents), sum(parents), network.free_parameters, max(parents)
        print(entry.name, *sizes, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
