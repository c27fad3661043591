"""The bundled benchmark networks: one compressed file each, and the catalogue of them."""
