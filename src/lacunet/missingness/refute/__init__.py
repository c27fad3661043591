"""Is there a proof that there is none? A `witness` is a pair of models, found along a `tangent`."""
