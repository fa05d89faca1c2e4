"""Questions about policies: neighbours, S(f, P), sparse or not, closed forms.

Reading order: answers (what is said), brute (the definitions, by listing databases), pairs,
pair_search and zero_parts (the independent check of one pair), numbering, fact_model and feasible
(is there a database, what do the facts imply); reduce and edges (fewer values, same answer), moves,
norms; then the engines, each in one sitting: irreducible and multisets ("search"), refute,
proposing, histograms and numbered ("ilp"), labelled ("sat"), hilbert; relaxation, split_moves,
embed, placing and bounding (from one graph or scope to another); loosening, conformal, labelling,
one_secret, compensated, merging, merged_model, merged_source, merged_placing, merged and bounded
(scope "given" with bounds or clauses); frames and frame_pairs (few signatures), drawn (too many of
them); lattice, lattice_symmetry, lifting_rows, lifting_compiled, lifting and lifted (Graver bases);
one_edge (where nothing is known); engines (which one answers) and questions (the front door).
Beside them: listing (all neighbours), sparsity, policy_graph, arcs, longest, encode and encode_map
(the model itself), averaging (an attack). Then closed_forms, certify (mechanisms), kernel (the
checker), certificates (what it checks) and claims (the ledger).

Nothing is imported here, so that a part that needs no solver loads none.
"""
