"""Long circuits: frames of the classes that facts tell apart, walked over until one is heavy.

What a frame is stands in `theorems/affine_frames`. Where the cuts of the classes into blocks are
too many to list, `walk` goes from one to the next, all cuts that differ in one class at once;
`worth` says what frames are worth to a query, and gives the moves their values; `long_circuits`
asks both, and puts the pair where it is wanted: along an edge of G, into a database;
`one_more_move` finds the place of a move along an edge where the heaviest have none; `fitted` makes
circuits of nearly all records of a database with given numbers, `stops` the order in which they
visit classes. Where numbers leave no room for any of these, `another_database` looks at what two
databases differ in.
"""
