"""EM that reads the data once.

`em` is the way in; `start` says where it begins, `iterations` climbs from one start, `restarts`
makes several and keeps the best, `em_stage` brings the statistics to them.
`with_learned_pseudo_counts` learns the prior on the way, `latent_state_order` orders states that no
row shows, `on_missingness_graph` makes mechanisms observed nodes, `em_uncertainty` says how sure it
is.
"""
