"""Pages: what one self-contained HTML file is made of, whatever it tells.

Read in this order: `kit` (the frame every page shares: policy, escaping, tables, tiles, writing),
`numbers` (what a page carries, packed), `live_network` (the network of a page, and how the browser
asks it), `provenance` (where a page comes from; every page of a result is put together there),
`notebook` (a page inside a notebook). What runs in the browser is in `assets`.

A page makes no request, opens from disk, and shows every name as text.
"""
