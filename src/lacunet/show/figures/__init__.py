"""Figures: each is drawn once, for pages and for papers.

Read in this order: `shapes` (lines, boxes, discs and words with a style each, and the picture they
make: SVG by itself, PDF and PNG by matplotlib), `text_width` (how wide words
are), `charts` (lines, ranges, patterns of missing values, heat maps, forest plots), `node_layout`
(where the nodes of a graph go), `network_figure` (a network with what is missing of it),
`notebook_figures` (nouns in a notebook).
"""
