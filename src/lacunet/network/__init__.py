"""What may be: variables with their states, a DAG and CPTs, and how they are written.

Read `network` (the noun) and `dictionary` (what values in data mean); `askable` is what a network
answers, as methods that import what carries them out. `named_axes` are the tables that everything
computes with, `labelled_tables` those that people read; `shapes/` are CPTs that are no full tables;
`nodes` says how nodes are written, `mechanisms` how a network keeps how values went missing.
`edges` reads edges in any language, `edge_texts` tells edges from files and names; `formats/` are
network files, `catalogue` the bundled networks, `bridges` other libraries.
"""
