"""Name, default, unit, a sentence: every limit of the verifier, by module."""

from __future__ import annotations

__all__ = ["TABLE"]

TABLE = """
certify/base/asked
    CLOSE 4 times: A promise that is kept is looked at no further where the loss from below is a
        part of this of that from above.
    SHARE 0.25 parts: Of the time that is left, for all releases together where each is known.
    SECONDS 1.0 seconds: The same at the most.
certify/base/lemmas
    LARGE 1_000 values: Values from which on a lemma is asked before rows are listed one by one, or
        all at once.
    LARGE_AT_ONCE 20_000 values: Values from which on a lemma is asked before rows are listed one by
        one, or all at once.
    SAMPLED 50 edges: So many edges of G are compared where a lemma is only sampled.
    ENTRIES 200_000 entries: Entries of rows after which no more edges are compared.
certify/base/verdict
    LISTED_OUTPUTS 20 outputs: So many outputs of a witness are named.
certify/channels/exponential_sums
    FIRST_BITS 96 bits: Precision with which sums of exponentials are compared first.
    MOST_BITS 400_000 bits: Precision at which a comparison is given up.
    MOST_TERMS 20_000 terms: Longer sums of exponentials are refused.
    LARGEST_EXPONENT 5_000 exponent: Larger powers of e are refused.
    MOST_BITS_OF_A_FACTOR 8_000 bits: Longer factors are refused.
certify/channels/expressions
    LONGEST 2_000 characters: Longer expressions are refused.
    DEEPEST 60 brackets: Expressions that are nested deeper are refused.
    MOST_DIGITS 200 digits: Numbers with more digits are refused.
    LARGEST_POWER 64 exponent: Larger powers in an expression are refused.
certify/channels/local_channels
    WAYS 500 ways: So many ways to fill the other records are tried.
certify/channels/ratios
    SHOWN_BITS 64 bits: Precision of a ratio that is shown.
    DIGITS 12 digits: So many digits of a ratio are shown.
certify/measures/bounded
    MOST_RATIOS 100_000 ratios: More ratios of a law are not listed.
    MOST_WAYS 20_000 ways: More ways to choose outputs are not listed.
    MOST_STEPS 400 steps: S beyond this is not written as sums.
certify/measures/logarithms
    MOST_BITS 1_000_000 bits: Numbers that are longer than this have their logarithms taken by
        nobody.
certify/measures/measured
    LADDER 5 times: How often a refuted epsilon is halved towards the true one.
certify/measures/sorts
    MOST_SHIFTS 100_000 pairs: Pairs with more changed outputs are not told apart one by one.
certify/measures/told_apart
    BITS 120 bits: Precision of the probabilities that tell two laws apart.
    POINTS 4_096 places: Into how many places a law, or the common grid of L, is divided.
certify/noise/additive
    LONGEST_ROW 20_000_000 outputs: Longer rows of a query are not written out.
    MOST_ROWS 2_000_000 entries: Releases that are known one by one are not asked for together where
        the rows of all values have more.
certify/noise/changed_outputs
    MOST_OUTPUTS 50 outputs: How many of the outputs that tell a pair apart are named.
    LISTED 100_000 outputs: Prefixes and ranges beyond so many outputs are counted by runs, not
        listed.
certify/noise/grids
    SAMPLED 1_000 values: So many values are sampled for a grid.
    ENTRIES 200_000 entries: So many entries of rows are read for a grid.
certify/noise/k_norm
    SHORT 10.0 seconds: For a pair that shows what is known from above already.
certify/noise/steps
    TRIALS 300_000 offsets: Ways to move along several attributes at once that are tried.
    EDGES 1_000_000 edges: So many edges of G are listed to find the one of most steps.
certify/noise/gaussian_steps
    ROUNDED 2^24 parts: Resistances are rounded up to parts of this.
    FAR 20 variance: Beyond it, how much what goes round may change is taken from there: less than
        10^-40 for each circuit.
certify/noise/resistance
    FINE 2^20 parts: Into so many parts a unit of flow is divided.
    CELLS 600 values: Boxes around two values of a grid are no larger.
    BOXES 300 boxes: In so many boxes a flow between two values is looked for.
    EDGES 100_000 edges: So many edges of G are listed to see how far they lead.
certify/noise/one_arrival
    MOST_VALUES 200_000 values: So many values are looked at as the record that arrives.
    MOST_ENTRIES 3_000_000 entries: So many entries of rows are read for them.
certify/noise/weighted_records
    MOST_FILLERS 20 values: How many values are tried for the records that do not change.
certify/printed/empirical
    EXPECTED 50 draws: Draws that each cell expects at the least, so that chi-square is close to its
        limit.
    MOST_CELLS 40 cells: Histograms of draws are cut into so many cells.
certify/selections/best_score
    MOST_VALUES 2_000 values: So many are looked at for one that lifts an answer above all others.
certify/selections/choices
    MOST_CELLS 64 cells: More scores are not followed one by one.
    MOST_DATABASES 700 databases: More databases are not listed.
    MOST_WORK 200_000 steps: What is worked out for all histograms together: cells times steps of
        noise.
    LARGEST 6 records: Databases of more records are left alone, unless n is public.
    FINE 1_000_000_000 parts: Probabilities are rounded to one part in so many.
certify/selections/known_scores
    MOST_VALUES 2_000 values: So many are looked at for ones that lift an answer alone.
    MOST_SCORES 20_000 answers: A pair with more answers that are not 0 is left alone.
certify/selections/listed_scores
    MOST_DATABASES 10_000 databases: Of so few, all neighbours are listed.
    SECONDS 4.0 seconds: For that, and for what each of these pairs loses.
    FINER 8 times: Into how many times as many steps noise is cut, for the most telling of them.
    FEW 2 pairs: So many are looked at so.
certify/selections/noisy_partitions
    BITS 128 bits: Precision of the probabilities of partitions.
    CUT 48 bits: What is less likely than 2 to minus this is cut off.
    FAR 4_000 steps: Noise that is further off is nothing.
    MOST_STEPS 2_000 steps: Noise is followed up to so many steps of the grid to each side.
    MOST_OUTCOMES 100 outcomes: More partitions are not listed.
certify/selections/winning
    BITS 128 bits: Precision of the chances to win a noisy maximum.
    PARTS 128 parts: Into so many steps a scale of noise without a grid is cut.
    REACH 64 scales: Noise that is further off counts as may be.
    NEAR 32 scales: The same, where a scale is cut into more steps.
    MOST_STEPS 400_000 steps: Steps of the noise, for all answers, that are added up.
closed_forms/blowfish/sparse_witness
    EDGE_LIMIT 20_000 edges: So many edges of G are looked at for a pair.
    TRIALS 20_000 tries: So many values are tried for a pair.
closed_forms/ours/more_dependencies
    MOST_BLOCKS 5 blocks: Signatures in more blocks are left to the search.
closed_forms/ours/one_dependency
    CLASS_LIMIT 300 classes: With more classes the form does not apply.
closed_forms/stating/form
    FACT_LIMIT 1_000 facts: With more facts no closed form is tried.
databases/consistency
    SMALLEST_LIMIT 14 facts: Of so many facts the smallest contradictory set is looked for.
    CHECKING 0.4 part: How much of the time is given to the question whether there is a database.
    NAMING 2.0 seconds: Seconds to look for smaller contradictory sets, where there is a time limit.
databases/count_limits
    USUAL 1_000_000_000 records: A limit that solvers cope with well, for facts with small numbers.
    MARGIN 1_000_000 records: Room for the records that a pair of databases moves, beside what the
        facts ask for.
    LARGEST 2^40 records: No limit for a count is larger.
    SMALL_TIMES 16 times: Larger coefficients are no small numbers.
    SMALL_NUMBERS 1_000_000 records: Larger numbers of facts are not small.
databases/count_queries
    BOXES_PER_STEP 2 boxes: So many boxes of impossible values are looked at in the time of a step.
    STEP_LIMIT 400_000 pairs: How many pairs of boxes may be looked at.
    SUM_LIMIT 16 boxes: How many boxes a `sum` may have before its classes are not worked out.
    EDGE 8e-6 seconds: For looking for an edge of G between two boxes.
    OVERLAP 2e-6 seconds: For comparing two boxes, or a value with the counts.
databases/fact_model
    SHORTEST 0.1 seconds: What a solver has at least, however little is left.
    MOST_PLACED 300_000 variables: Named records times classes: so many variables at the most say
        where a record lies.
databases/value_classes
    MOST_AREAS 5_000 areas: Of more facts no table is made of what each class adds to each.
    MOST_CLASSES 20_000 classes: More classes are too many for a table.
    LARGEST 2^20 coefficient: Larger coefficients of facts are left to the engines.
    AREA 2e-7 seconds: For an area that a class lies in.
    ENTRY 2.5e-8 seconds: For an entry of the table.
engines/brute
    DATABASE_BUDGET 200_000 databases: How many databases may be listed before the question is
        refused.
    COMPARISON_BUDGET 300_000_000 comparisons: How many comparisons of databases may be made before
        the question is refused.
engines/farmed/farm
    ALONE 1.0 seconds: How long a search works here before it hands tasks to workers elsewhere.
    EACH 5.0 seconds: How long a task works elsewhere before it hands back what it has left.
    WAIT 0.25 seconds: How long tasks that are under way are waited for at once.
    FIRST_NODES 2_000 nodes: For the first tasks, whose speed nobody knows.
    FOR_EACH 3 tasks: Under way for each worker, so that none of them waits.
    LIVES 5 times: A task whose worker died so often is given up, and the search with it.
engines/few_databases
    MOST_TRIED 2_000 databases: So many are tried against the facts, before neighbours are listed.
    MOST_COMPARED 500 databases: So many that satisfy the facts are compared with one another.
engines/determined
    LISTED 2_000 values: So many values of all classes together are looked at one by one, where
        classes may differ.
    SAMPLE 3 values: So many boxes of a class are looked at where not all are.
    SECONDS 2.0 seconds: For the question whether the facts determine the query.
    MOST_OUTPUTS 5_000 outputs: Queries with more outputs are not looked at.
    MOST_ENTRIES 20_000_000 entries: Larger tables of rows are not written out.
    WIDE 1_000_000 width: Larger numbers of rows do not fit the arrays.
engines/graver/lifting
    LARGEST 16_000 coordinate: Coordinates beyond this are refused, so that sums of two fit 16 bits.
    FEW 300 vectors: Fewer vectors than this are lifted without looking for symmetries.
    MOST_ENTRIES 200_000_000 coordinates: How many coordinates all vectors may have together, about
        2 GB with what is kept beside them.
    CHUNK 2^18 rows: So many sums of vectors are looked at together.
    SMALL_BATCH 512 rows: A batch of new vectors has so many at least.
    STEPS_AT_ONCE 200_000_000 comparisons: Comparisons between two looks at the clock.
    SUM 2.5e-8 seconds: For each number in a sum of two vectors.
    ROW 3e-7 seconds: For one that is new, to see whether it is irreducible.
    EACH 1e-11 seconds: The same, for each vector that is known to be.
engines/graver/symmetry
    MOST_NODES 3_000 images: How many images are tried, for all generators together.
engines/histograms/listing
    MOST_LISTED 100_000 values: Domains with more values are not listed, not even to see how many
        are possible.
    LONGEST 10_000_000 records: Databases of more records are not written out one by one.
    MOST_REFUTED 8 pairs: So many more proposals than pairs may be refuted before they are cut off.
    FEW_VALUES 60 values: Where there are too many values, pairs come from so many of them.
engines/histograms/master
    TERM 2.5e-6 seconds: For a move in one row of a program.
engines/histograms/numbered
    MOST_STATES 20_000 states: So many numberings are listed, so that a cut speaks of all of them at
        once.
    MOST_NUMBERINGS 200 numberings: So many numberings are listed, so that a cut speaks of all of
        them at once.
engines/irreducibles/arrays/hyperplanes
    LARGEST 2^30 entry: Products of two such numbers, and their differences, stay below 2^62.
engines/irreducibles/arrays/state
    BLOCK 256 functionals: Functionals looked at before one that leaves w alone is taken.
    KEY_BITS 62 bits: Of a packed sum.
engines/irreducibles/best_value
    PIVOTS 60 pivots: So many circuits are walked before the search for a value.
engines/irreducibles/choice
    PLAIN_NODES 300 nodes: Plain Python searches so many, a few hundredths of a second.
    PLAIN_EFFECTS 40 effects: With more effects, plain Python is not tried first.
    HEAVY 2^40 weight: Of such weights 2^22 may be added in 64 bits.
    LOADING 0.3 seconds: To wait for compiled code on disk before the plain engine starts.
engines/irreducibles/circuits
    LARGEST 2^30 entry: Larger entries of an elimination do not fit 64-bit products.
    STEP 3e-5 seconds: For one step of a walk.
    ENTRY 1.2e-8 seconds: For an entry of an elimination in it.
    COORDINATE 6e-7 seconds: For one coordinate of an effect, before walks begin.
engines/irreducibles/functionals
    MOST_SUBSETS 600 subsets: So many subsets of effects give normals in plain Python.
    MOST_NORMALS 100_000 normals: More functionals are not kept.
    MOST_WORK 2_000_000_000 entries: Entries written on the way to the normals: about a second.
    SAMPLES 2_000 subsets: So many subsets are sampled where all are too many.
    SAMPLING 0.3 seconds: For a sample in plain Python.
    UNHURRIED 10.0 seconds: With less, less time goes into functionals.
    MOST_RANK 10 rank: Of larger rank, normals are sampled.
engines/irreducibles/lanes
    ALONE 0.5 seconds: Work of one core on a search before others join it.
    SLICE 0.05 seconds: A lane runs so long before others may take work from it.
    FIRST_SLICE 1_024 nodes: The first slice of a lane.
engines/irreducibles/multiset
    MOST_SUMS 100_000 sums: Where more sums of parts would have to be listed than this, whoever asks
        is in a hurry.
    SUM 1e-6 seconds: For one sum of parts.
engines/irreducibles/search
    SLICE 0.1 seconds: Between two looks at the clock.
    FIRST_SLICE 8 nodes: The first slice of a search.
engines/irreducibles/search_compiled
    SECONDS_PER_SUM 3e-8 seconds: What a node costs for each coordinate of each effect.
    ADDED 1e-7 seconds: For each sum of parts more, or less, than before.
    DOUBLED 2.5e-8 seconds: For each place in a table of sums that is made larger.
    MOST_SUMS 2^23 sums: A multiset with more sums of parts is too large.
    MOST_DEPTH 8_192 effects: Multisets with more elements are too deep.
    MOST_TABLE_WORDS 2^23 words: 64 MB of covered multisets.
    MOST_KEY 2^62 key: Packed sums stay below this.
    MOST_WORK 2^22 sums: Sums looked at between two looks at the clock, as far as can be foreseen.
    MOST_FORM 2^20 multiplications: Of whole numbers of any size, for a normal form.
    MOST_TRACED 2^23 nodes: Nodes: a proof of more would take longer to check than anyone waits.
engines/irreducibles/search_python
    COVERED_SIZE 3 elements: Larger covered multisets are not remembered.
    MOST_SUMS 4_096 sums: More sums of parts of one multiset are not kept.
engines/irreducibles/symmetry
    MOST 20_000 permutations: More symmetries are not listed.
    MOST_STEPS 200_000 steps: For the search for symmetries.
    STEP 4e-07 seconds: For a multiplication of whole numbers of any size, roughly.
engines/irreducibles/trace
    MOST_PRODUCTS 5_000 products: More symmetries are not multiplied out.
    TRIES 5 permutations: Permutations that would make too many products.
    MOST_PLAIN 2_000 nodes: Nodes in plain Python, about as long as loading compiled code takes.
    SLICE 20_000 nodes: Nodes between two looks at the clock.
    POINTS 7_000 points: A box of sums had better not have more.
    MOST_POINTS 2^18 points: A box of sums has no more; beyond, sums are no bits.
    FAR 8 coordinate: Boxes of sums reach so many times the largest effect.
engines/irreducibles/warming
    PATIENCE 0.05 seconds: Between two looks.
engines/labelled/engine
    CHECK_BUDGET 20_000 sums: How many running sums the independent checker may hold for one pair: a
        fraction of a second.
engines/labelled/objective
    TERM_LIMIT 12_000 literals: How many literals the sum may have before it is given up.
    NUMBER_LIMIT 600_000 numbers: How many numbers f's rows over the values may have.
    DIAGRAM_LIMIT 20_000 nodes: A sum with larger (literals times bound) is added up once, and its
        binary digits are bounded.
engines/labelled/other_norms
    TERM_LIMIT 12_000 literals: How many literals all sums may have before they are given up.
engines/labelled/refuter
    OFTEN 256 refutations: So many between two looks at the clock.
engines/labelled/table
    VALUE_LIMIT 400 values: How many values a record may take; each is a variable of each record in
        each database.
    MODEL_LIMIT 1_000_000 literals: How large (in literals, roughly) the master may be: each of its
        answers is checked by Python.
    LEAST 50 literals: Literals that a value of a record takes in any case.
engines/one_move/axis
    PAIRS_LIMIT 60_000_000 pairs: More pairs of places on an axis are not compared.
    TABLE_LIMIT 60_000_000 entries: Larger tables of an axis are not written out.
engines/one_move/by_offsets
    MOST_VALUES 200_000 values: On larger domains, rows are not compared offset by offset.
    MOST_EDGES 10_000_000 edges: More edges of G are not compared offset by offset.
    MOST_WORK 200_000_000 entries: Of rows, once for each offset, that are compared.
    HURRIED 20_000_000 entries: The same in a hurry.
    MADE 50 entries: What takes as long as to work one entry out.
    MOST_GROUPS 100 groups: More groups of outputs with one weight are not told apart.
engines/one_move/by_structure
    EDGE_LIMIT 300_000 edges: More edges of G are not walked.
engines/one_move/engine
    LARGE 1_000_000 values: In a hurry, larger domains are left alone.
    SHORT 5.0 seconds: With less time it is in a hurry.
engines/one_move/farthest
    MOST_WORK 2_000_000_000 steps: Steps for the farthest pair of values.
    MOST_OFFSETS 200_000 offsets: More offsets of a distance graph are not listed.
    MOST_SIGNS 13 axes: All signs of so many axes are tried.
    MOST_SUPPORTS 200 supports: So many sets of axes are tried.
    CHUNK 256 rows: So many rows are looked at together.
engines/one_move/other_norms
    MOST_TRIED 300_000 pairs: More pairs of values are not compared.
    MOST_BOXES 300 boxes: More boxes of a class are not compared.
engines/one_move/profile
    LONGEST_AXIS 20_000_000 places: Longer axes are not walked.
engines/one_move/row_table
    MOST_ENTRIES 20_000_000 entries: Larger tables of rows are not written out.
    MOST_VALUES 1_000_000 values: More values are not listed.
    ROW_BY_ROW 200_000 entries: Smaller tables are compared row by row.
    COMPARED 50 rows: So many rows are compared at once.
engines/one_move/worst_edge
    EDGE_LIMIT 300_000 edges: More edges of G are not listed.
    FEW_EDGES 20_000 edges: So few are listed before anything else.
    WORK_LIMIT 20_000_000 entries: Of rows, for the edges that are listed.
    AXES_LIMIT 12 axes: More axes are not looked at together.
    MOST_STEPS 64 steps: So many edges are tried with another step along one more axis.
    MOST_LISTED 8 lists: So many answers from long lists of edges are kept for who asks again.
engines/policy_graph/cycle_program
    CUT_NODES 6 nodes: How many nodes of one proposed cycle give a cut in one round.
    ARC 1e-5 seconds: For an arc of a model that is written.
engines/policy_graph/cycle_search
    GREEDY_STARTS 8 nodes: So many starts are tried for a first cycle.
    ARC 1e-7 seconds: For an arc that a walk looks at.
engines/policy_graph/graph
    ARC 5e-7 seconds: For an arc of a policy graph.
    MOST_ARCS 1_000_000 arcs: Larger policy graphs are refused.
engines/policy_graph/longest
    SUBSET_LIMIT 12 nodes: Of so many nodes all subsets are looked at.
    SUBSET 2e-7 seconds: For a node of a subset that is looked at.
    PART 1.5e-6 seconds: For an arc of a graph that is cut into blocks.
engines/search/effects
    SEARCH_EFFECTS 320 effects: With more effects in one part (`widest`), preparing the search takes
        longer than people wait.
engines/search/engine
    CHECK_SECONDS 0.4 seconds: How long the check of a witness may take after the search, where
        there is a time limit.
engines/search/from_circuits
    QUICK_EFFECTS 100 effects: With more, circuits are walked for as long as is given.
    CIRCUIT_SECONDS 3.0 seconds: For circuits, before the search begins.
    ROUND 40 circuits: So many circuits are walked between two looks at the clock.
engines/search/graver_lists
    FIRST_SHARE 2.0 seconds: The first turn of the lifting.
    GROWTH 4.0 times: How much longer each turn is than the one before.
    FIRST_FEW 8 vectors: So many are evaluated before bounds that see each output.
    LARGEST_CHANGE 2^40 change: Larger changes of the query (scaled to integers) leave the lifting
        out.
    LARGEST_SUM 2^62 square: Squares are added up in arrays where even all outputs at their largest
        stay below; else one by one.
    MOST_COLUMNS 160 effects: Beyond this many pairs of effects the integer kernel alone takes
        seconds.
    MOST_RANK 20 rank: Of a kernel in readings 1 and 2, where effects are many and much alike: a
        huge basis beyond.
engines/search/largest_output
    MOST_NUMBERS 2_000_000 numbers: Of more outputs, effects and moves no table is made.
    LARGEST 2^40 change: With larger changes (scaled to integers) other ways are taken.
    MOST_MOVES 2^20 moves: Changes of more are not added up in arrays of 64 bits.
    MOST_PERMUTED 4_000_000 numbers: So many numbers of a table are permuted to see symmetries.
engines/search/straight
    MOST_CLASSES 60 classes: Of more classes no symmetries are looked for.
exact/coordinates
    MOST_WORK 2^20 multiplications: Multiplications of whole numbers of any size: a fraction of a
        second.
    MOST_SPLIT 2^22 multiplications: For the split into parts.
    LARGEST 2^20 coordinate: Coordinates; keeps all 64-bit products of the compiled code exact.
    KEPT 4 tables: Coordinates of so many tables of effects are kept for whoever asks again.
exact/cuts
    SAFE 2^62 product: Products below this fit 64 bits.
exact/farthest
    MOST_SUMMED 4_000_000 numbers: Sums that are looked at at once, times how long they are.
    SAFE 2^60 square: Squares below this, and bounds of them, are exact in the arrays.
    NUMBER 5e-9 seconds: For a number of a sum.
exact/independence
    MOST_LEFT 600 rows: So many rows that do not peel are looked at modulo a prime.
    MOST_SOLVED 40 rows: So many are solved exactly where the prime shows a dependency.
exact/lattice
    LARGEST 2^20 entry: Entries of a basis beyond this are refused: products must fit 64 bits.
exact/small_coordinates
    MOST_RANK 40 rank: Lattices of larger rank are not reduced.
exact/span
    SAFE 2^62 sum: Sums below this fit 64 bits.
    SPARE 60 rows: So many more numbers than twice the rows may be worked with.
    ENTRY 7e-9 seconds: For an entry in a step of an elimination.
export/averaging
    MOST_FACTS 800 facts: The attack solves no larger system.
export/programs
    SEARCH_SECONDS 10.0 seconds: How long to search for the longest irreducible multiset, before a
        weaker bound is taken.
    MOST_RECORDS 1_000_000 records: Readers hold doubles, and an LP with huge bounds asks little:
        larger sizes must be asked for.
    CUTTING 0.75 share: The part of the time limit that cuts are looked for; the rest is to prove
        what they leave.
moves/best_choice
    LISTING_LIMIT 20_000 choices: So few choices of kinds are listed one by one.
    MOST_DIGITS 2_000_000 numbers: Choices times outputs: beyond that they are not listed.
    OFTEN 256 sums: So many between two looks at the clock.
    SUM 6e-7 seconds: For one sum of choices that is listed.
    DIGIT 1.5e-7 seconds: For one output of a sum of all choices.
    NUMBER 1.4e-7 seconds: For one output of one kind that is tried in the place of another.
    PARTS 16 parts: Moves that are alike are chosen, one after the other, in so many.
    WRITTEN 7e-6 seconds: For one output of one kind in a program that is written.
    GROUP 4e-7 seconds: For one effect of a choice that is bounded.
    REACHED 1e-7 seconds: For one output that its moves can make rise, or fall.
    CHOICE_SECONDS 20.0 seconds: How long a program may look for the best choice of moves, where no
        time limit says it.
    GOOD 1.0 seconds: The same where a choice that swapping finds is good enough.
moves/choices_at_once
    MOST_NUMBERS 2_000_000 numbers: Sums times outputs that are added up at once.
    LARGEST 2^62 size: No sum of changes that is added up in arrays may be larger.
    NUMBER 1e-8 seconds: For one output of one sum.
moves/edge_ends
    CLASS_LIMIT 400 classes: Ends of edges are looked for between so many classes.
    BOX_LIMIT 20_000 boxes: Classes of so many boxes together.
    BOX_PAIR_LIMIT 400_000 pairs: So many pairs of boxes are looked at.
moves/edges_at_once
    LARGEST 2^61 coordinate: Larger ones do not fit the arrays.
    BLOCK 512 values: So many values are compared between two looks at the clock.
    MOST_BOXES 60 boxes: A class of more boxes is taken as the box around it.
moves/joined_classes
    MOST_BOXES 60 boxes: Classes of more boxes are not compared: an edge may join them.
    MOST_PAIRS 60_000 pairs: More pairs of boxes are not compared.
moves/kinds
    MOST_VALUES 250 values: Moves between more values are too many.
    MOST_JOINED 1_500 values: The same, where only secret moves count.
    MOST_ENTRIES 2_000_000 numbers: Longer rows of a query are too long for kinds of moves.
    MOST_CHANGES 6_000_000 numbers: So many numbers in the changes of all kinds together: some
        hundred megabytes.
    ROW 1e-6 seconds: For each number of a row of the query that is made whole.
    KIND 5e-6 seconds: For writing down two opposite kinds of moves.
    NUMBER 3.5e-7 seconds: For each output that they change.
neighbours/check
    MANY_EFFECTS 2_000_000 numbers: Facts times moves: beyond that, effects are not written out to
        be searched.
    MANY 12 moves: With fewer moves the search is as quick.
    FEW_PARTS 1_000 parts: So many of a pair of reading 5 are listed before anything else is tried.
    RECORD 3e-6 seconds: For one record that changes, before or after.
neighbours/joint_certainty
    OFTEN 1_024 steps: So many between two looks at the clock.
neighbours/cycle_parts
    MOST_BESIDE 3 facts: So many facts that count much are set apart from independent ones.
neighbours/search_for_d3
    STATE_BUDGET 500_000 sums: How many running sums the search may hold before it gives up.
    CHOICE 2e-5 seconds: For one record more.
    OPTION 4e-6 seconds: For what it may do.
    SUM 1e-7 seconds: For one running sum, with that.
    WORK_PER_STATE 3 sums: How many sums it may make in all, for each one that it may hold.
neighbours/zero_parts
    MOST_PARTS 100_000 parts: More parts of a pair are not listed.
    MOST_WORK 300_000 steps: Steps of the elimination: about a second.
    MOST_STEPS 5_000_000 numbers: So many are added up to see that there is one relation.
odds/any_belief
    MOST_PAIRS 1_000_000 pairs: More pairs of databases are not compared.
    SECONDS 30.0 seconds: For the beliefs that an attacker may have.
odds/base/algebraic
    DEGREE 12 degree: Largest odds ratios at roots of a higher degree are bounded, not named.
odds/base/asked
    MOST_LISTED 20_000 databases: More databases are not listed.
odds/base/chances
    MOST_OUTPUTS 40_000 outputs: More outputs of a channel are not listed.
odds/certificate
    SECONDS 60.0 seconds: For writing and for checking a certificate of odds.
    BITS 128 bits: Precision of what a certificate claims where it is no power of e.
odds/composition
    MOST_DATABASES 150 databases: Of more, no mechanism is looked for that does not compose.
    MOST_CONSTRAINTS 20_000 constraints: Of more, no mechanism is looked for.
    TRIES 40 tries: So many random sums are tried as a mechanism that does not compose.
odds/families/families
    MOST_PRODUCTS 400_000 products: More pairs of databases of two statements are not put into
        families.
    BITS 160 bits: Precision of probabilities that are no fractions.
    LONGEST 2_000 bits: Longer common denominators are rounded outwards instead.
odds/families/polynomial
    CORNERS 12 families: So many families of one secret pair and output are tried as corners.
    CLOSE 0.001 part: Boxes whose bound is so close to the best value are looked into no further.
    CHARTS 512 charts: Beliefs that need more charts are bounded by their families alone.
odds/families/search
    MOST_WORK 6_000_000 products: More of them over all secret pairs and outputs are not weighed.
    BOXES 4_000 boxes: So many boxes of beliefs are looked at in all.
    LEAST 2^64 times: Chances are made smaller until one part in so many.
odds/independent
    MOST_BETWEEN 2^14 databases: Between two beliefs, more databases are not listed.
    LEAST 2^64 times: Chances are made smaller until one part in so many.
odds/listed
    LONGEST 200 databases: So many databases of a belief are shown.
plan
    FIRST_TURN 0.2 seconds: Seconds of work of the first turn; each round's turns are twice as long
        as those before.
    ENGINES_PART 0.9 part: How much of the time limit the engines have; the rest is for a pair where
        they find none.
    PLANNED_PART 0.6 part: The part of the time limit by which a strategy that plans its time does
        so, beside others.
    PEERS 20.0 seconds: Seconds of work for engines that go on alone, where no time limit is set.
    FEW_DATABASES 20_000 databases: So many databases are listed, by the definition, beside what
        else is tried.
    VERY_FEW 300 databases: So many are listed before anything else is tried.
    SLIGHT 0.125 part: Where all strategies have ended in less of the time limit, more of it would
        change nothing.
    MOST_REASONS 3 reasons: So many reasons are told why more time will not help.
    GRACE 0.5 seconds: Seconds of work in which an engine comes back with what it has when the time
        is over.
    LOOSENING 10.0 seconds: Seconds of work for leaving out what follows from other facts, where no
        time limit is set.
portfolio/bounds
    CHECK_SECONDS 0.4 seconds: How long a pair's minimality is searched again, where its engine has
        shown it in its own way.
portfolio/group_by_group
    MOST_GROUPS 60 groups: More are not looked at one by one.
portfolio/matched
    MOST_TABLES 4 tables: Within the cells of so many what comes and goes is matched.
    MOST_CELLS 500 cells: So many are tried for a kind of move.
    MOST_FITTED 20_000 pairs of cells: With more, it is not found out which have room for a move.
portfolio/known_numbers
    PATIENCE 30.0 seconds: Seconds for a strategy that lists multisets, where no time limit is set.
    MERGING 60.0 seconds: Seconds for what merging records says, where no time limit is set.
portfolio/related
    MOST_AXES 12 attributes: Parts of marginals of more are not listed: these imply no others.
    MOST_SUMS 100_000 pairs of counts: Numbers of two policies that are more are not compared.
portfolio/searches
    SPARSE_SECONDS 10.0 seconds: How long the longest cycle and path of a policy graph may take.
    LARGE 2^40 records: Where no fact bounds n, larger databases are not looked at.
    LENGTH_SECONDS 2.0 seconds: For the longest irreducible multiset, in reading 3 with bounds.
proofs/cases/choice
    SOME_CASES 4 cases: A cut that leaves so few cases open is taken at once.
    MOST_DENSE 10_000_000 entries: Larger tables of cases are not written out.
    AGAIN 4 times: How much a move that is made already counts against a functional that needs it
        again.
    LARGEST 2^30 coefficient: Sums of larger coefficients of facts might not fit 64 bits.
proofs/cases/cuts
    MOST_SUMS 3_000 sums: More sums of moves are not listed for a cut.
    FEW_CASES 2 cases: Cuts that leave so few open are taken.
proofs/cases/program
    SECONDS 5.0 seconds: For one integer program of a proof by cases.
proofs/cases/search
    DEEPEST 600 cases: Proofs that are nested deeper are given up.
proofs/cells
    MOST_FACTS 150 facts: So many facts are taken into the base one after the other; of more, all or
        none.
proofs/graver
    LIKE_AN_EFFECT 80 vectors: So many vectors of a whole basis count as much as one effect (up to
        sign) to be searched over.
    MOST_PIECES 3_000 pieces: Facts are not cut into more pieces.
    MOST_VECTORS 25_000 vectors: Larger bases are not written down.
    MOST_COLUMNS 400 columns: Of more columns no basis is looked for.
proofs/lengths/beside
    MOST_ORDERS 5 labels: Of no more labels every order of the stages is tried.
proofs/lengths/circuits
    MOST_ENTRIES 400_000 entries: Of the table of signatures.
    LARGEST 2^30 coefficient: Larger coefficients of facts have no ellipsoid.
proofs/lengths/tables
    MOST_SIGNATURES 64 signatures: Of more, it is not asked whether tables share an attribute.
proofs/margins
    MOST_FACTS 60 facts: Of more facts no table is made that was searched in full.
proofs/write
    PROOF_SECONDS 120.0 seconds: How long the search for a proof may take, where no limit is given.
    CHECKING 1.0 part: A proof that was found has at least this part of the time to be checked.
    IMPLIED 4 part: What the known numbers imply is looked for in this part of the time.
    SHORT 40 part: In reading 3 a search as long as this part of the time comes before Graver bases.
    ENDS 8 part: Of cumulative counts a search by the ends of classes, as long as this part of the
        time, comes before one by their values.
    FEW_CELLS 60 cells: Where there are more, a proof by cells is tried before all moves between
        them are listed.
    LISTING_STEPS 30_000_000 steps: Proofs by listing that take the kernel longer are not written.
    THEOREM_STEPS 100_000_000 steps: Proofs by a theorem that take the kernel longer are not tried.
reductions/by_ends
    LONGEST_AXIS 20_000 places: Longer axes are left alone.
reductions/complete_graph
    SAMPLE_BOXES 6 boxes: So many boxes of a class are looked at for values.
    SAMPLE_EDGES 6 edges: So many edges of G are looked at for a secret move.
    FEW_CLASSES 12 classes: Of each of so few classes four values are taken, else two.
    BOX_PAIRS 400_000 pairs: More pairs of boxes are not looked at.
reductions/few_values
    VALUE_LIMIT 2_000 classes: More classes of values are too many.
    CELL_LIMIT 2_000 cells: More cells of secrets are too many.
    SMALL_DOMAIN 40 values: So small a domain is taken as it is.
    DISJOINT_EDGES 3 edges: So many edges between two classes are kept.
    MOST_NEAR 50_000 values: So many that have an edge to another class are listed.
reductions/fewer_facts
    MOST_BOUNDS 40 bounds: Of more bounds none is left out.
    MOST_BOXES 300 boxes: More boxes are not declared impossible.
    MOST_LISTED 1_000 values: Longer sides of a box are not written as labels.
reductions/given_numbers
    MOST_REFUTED 100 pairs: How many pairs of one multiset may be refuted before it is left
        undecided.
reductions/linked_facts
    MOST_CLASSES 4_000 classes: With more, it is not found out which facts are linked.
reductions/merged_records
    MOST_SUMS 20_000 sums: More sums of the merged records' moves are too many.
    MOST_STEPS 1_000_000 steps: For the list of these sums.
    MOST_CHOICES 400 choices: More choices of records are too many.
reductions/one_cell
    MOST_CELLS 5_000 cells: With more, it is not found out whether each has facts of its own.
theorems/affine_frames
    MOST_SIGNATURES 64 signatures: With more, frames are not listed.
    MOST_PARTITIONS 10_000 partitions: More partitions of signatures are not looked at.
theorems/alone
    SECONDS 4.0 seconds: For the question whether records move alone.
    MOST_CLASSES 4_000 classes: With more, it is not asked.
    MOST_PAIRS 60_000 values: So many values are looked at for one with another end.
theorems/beside
    SECONDS 4.0 seconds: For a bound by cells and facts beside them.
    MOST_ENTRIES 4_000_000 entries: Of the table of signatures.
    MOST_GROUPS 12 groups: With more groups of facts the theorem is not tried.
    MOST_FACTS_BESIDE 6 facts: With more facts beside the cells it is not tried.
    MOST_LABELS 200 labels: Of so many labels of a class any two are compared.
    MOST_ORDERS 4 orders: Of so few facts beside the cells all orders are tried.
    MOST_STARTS 6 groups: Of so few groups of facts each is tried as the first of the base.
theorems/beside_bounds
    SECONDS 4.0 seconds: For a bound by cells and bounds beside them.
    MOST_LEFT_OUT 4 bounds: Of so many bounds of one end each is left out in its turn.
    MOST_ENDS 12 ends: So many times two ends of bounds are met exactly.
    MOST_CORNERS 64 values: So many ends of a class are looked at for a query.
theorems/beside_pairs
    MOST_AXES 4 attributes: Ends of classes are not looked at where a query reads more.
    MOST_CORNERS 64 values: So many ends of a class and label are looked at for a query.
    MOST_RECORDS 200_000 records: Pairs with more records are not written out.
    MOST_PLACED 20_000 records: Pairs with more records are not put into a database.
    MOST_RANKED 40 sets: So many sets of classes are compared by what they change the query by.
    MOST_EMBEDDED 6 sets: So many sets of classes are tried in databases with the known numbers.
    MOST_GAINING 300 classes: Of more, none are made to gain a label in a database with the known
        numbers.
theorems/empty_classes
    MOST_CLASSES 500 classes: Of more classes none is asked for.
    SINGLY 30 classes: So many classes are looked at one by one where all of them together are not
        seen to be empty.
    SECONDS 2.0 seconds: For the classes that no database holds.
theorems/exchanges
    SECONDS 10.0 seconds: For the values that one record can be exchanged for.
    FEW_VALUES 400 values: Of one class, of which every two are looked at.
    MOST_ENTRIES 40_000_000 entries: Of the rows of these values.
theorems/known_counts
    GRAIN 1_024 parts: Duals are rounded to multiples of one part in so many.
    SHORTEST 0.5 seconds: Seconds that every linear program has: the first one waits for the solver
        to be loaded.
    LARGEST 2^40 records: Larger counts do not fit.
    MOST_ENTRIES 4_000_000 entries: Of the linear program.
theorems/listed_margins
    SECONDS 4.0 seconds: For the factors of the facts.
    MOST_ENTRIES 4_000_000 entries: Of the table of signatures.
    MOST_GROUPS 12 groups: With more groups of facts the theorem is not tried.
theorems/lengths/longest_circuit
    MOST_PRODUCTS 4_000_000 products: Of coordinates of every two points; of more there is no
        ellipsoid.
    MOST_DIMENSIONS 80 dimensions: Larger determinants are not bounded this way.
    ROUNDS 120 rounds: So often the weights of the ellipsoid are mended.
    PAIR 1.5e-8 seconds: For two points, each time.
    FINEST 2^30 parts: The largest entry of the ellipsoid's matrix, in whole numbers.
    SAFE 2^62 sum: Sums below this fit 64 bits.
theorems/lengths/lattice_free
    MOST_DIMENSIONS 80 dimensions: Larger determinants are not bounded this way.
    MOST_PRODUCTS 4_000_000 products: Of coordinates of every effect; of more there is no volume.
    SAFE 2^62 sum: Sums below this fit 64 bits.
theorems/lengths/frames_above
    MOST_CLASSES 64 signatures: Of more, frames are not bounded by sizes of blocks.
    MOST_SIZES 5_000 lists: More sizes that the blocks of a frame may have are not looked through.
theorems/lengths/shared_attribute
    MOST_CLASSES 64 classes: Of more, it is not asked whether tables share an attribute.
    MOST_POINTS 4 points: Graphs with more are not looked through; a product bounds their trees.
theorems/lengths/heaviest_blocks
    MOST_SETS 400_000 sets: Of so many classes, the largest is found by looking at all.
    MOST_SIGNS 27 classes: Of more, not all vectors of signs are looked at.
    SAFE 2^60 determinant: Larger ones might not fit 64 bits.
theorems/lengths/listed_frames
    CHUNK 20_000 cuts: So many are looked at together.
    MOST_CUTS 100_000_000 cuts: Of more, not all frames are gone through.
    CUT 2.5e-7 seconds: For a cut of the classes, in compiled loops.
    SLICE 100_000 cuts: So many are gone through between two looks at the clock.
    SAFE 2^30 minors: Products of two smaller ones fit 64 bits.
theorems/lengths/fitting_cycles
    MOST_NODES 20_000_000 lists: Longer searches for lists of cycles are given up.
    DIGIT 256 sums: Coordinates of sums of labels are below half of it.
    HELD 3 cycles: A cycle that a list holds counts as so many more, where cycles to try are few.
theorems/lengths/label_sets
    FEW_OUTPUTS 9 outputs: Of no more outputs all signs are tried.
theorems/lengths/one_end
    MOST_CLASSES 200 classes: Round more classes no best cycle is looked for, in both directions.
theorems/lengths/priced_rows
    MOST_OUTPUTS 3 outputs: Of more, what a pair changes is not added up output by output.
    MOST_CUTS 3 bounds: So many bounds at the most divide an axis at a time.
    MOST_ROWS 400_000 entries: Of the table of signatures.
    LARGEST 2^40 moves: Of more moves no prices are made.
    FINENESS 10^6 denominator: Of proposed multiples.
theorems/lengths/two_beside
    MOST_LABELS 16 labels: Of more labels of a class, a box round them is looked at.
    LENGTHS 120 steps: In so many steps the lengths of cycles are looked at.
    FAR 300 steps: In so many, how far a cycle's label is from the line that parts all others.
    FINEST 2^16 parts: Of a unit of length, in whole numbers.
theorems/longest_irreducible
    MOST_COUNTED 1_000_000 steps: Whole points that take longer to count are not counted.
    MOST_ENTRIES 4_000_000 entries: Of larger tables of points coordinates are not reduced.
    MOST_COMPARED 300_000_000 entries: Of all pairs of points, to find the two furthest apart.
    MOST_DEGREE 20_000 degree: Larger determinants are not bounded this way.
    MOST_PAIRS 3_000 pairs: Of more pairs of effects only some are looked at.
    FINEST 4_096 parts: Coordinates are divided into so many parts at the most.
    BLOCK 256 rows: So many rows are looked at together.
    LINK 2e-7 seconds: For a fact that an effect changes.
    COMPARED 8e-10 seconds: For a coordinate of two points that are compared.
    SQUARED 3e-7 seconds: For a coordinate that is squared, in whole numbers of any size.
theorems/families/areas
    MOST_OPEN 2_000 boxes: Over one position there are no more boxes that may overlap.
    SHORT_AXIS 8 positions: Of no longer axes every position is taken.
    TRIED 4_096 values: Of one class.
theorems/families/areas_beside
    FEW 200 facts: Of no more facts a table is made of what each class adds to each.
    MOST_GROUPS 12 groups: So many entries of the policy are tried as areas.
    MOST_BITS 13_000 bits: A number of moves that is longer is not told: nobody could print it.
    MOST_STAGES 4 facts: Of no more facts beside the areas a bound is made one after the other.
    SECONDS 10.0 seconds: To find which boxes lie inside of which, and values of the classes.
theorems/families/four_cells
    SECONDS 4.0 seconds: For the theorem, where no time limit says it.
    MOST_CLASSES 400 signatures: Of more, not every two are added up.
    MOST_ROWS 500 rows: Of more, not every two are compared.
    MOST_FOURS 400_000 fours: Of more classes that come for others no bound is made.
    MOST_TRIED 200 fours: So many are tried as a pair, the largest first.
theorems/families/many_areas
    MANY 5_000 facts: Of no more facts a table is made of what each class adds to each.
    SHORT_AXIS 8 positions: Of no longer axes every position is looked at.
    MOST_VALUES 2_000_000 values: Of all classes together.
    TRIED 4_096 values: Of one class.
    MOST_PAIRED 64 values: Of one class, every two of which are compared in reading 3.
    SECONDS 30.0 seconds: To find which boxes lie inside of which, and what changes.
theorems/families/turning_cycles
    FEWEST 4 cells: Round fewer cells, pairs of two cycles are found in other ways.
    MOST_CELLS 4_000 cells: Round more, no cycles are looked for.
    MOST_RECORDS 200_000 records: Pairs with more records are not written out.
    MOST_TRIED 6 sizes: So many sizes of cycles are tried, and as many again for smaller ones.
    MOST_TURNS 3 choices: So many turns up and down are tried.
    MOST_LABELS 8 labels: Of more labels, so many are turned between, and those near the mean.
    MOST_LOOPS 200 cells: In so many an edge between two labels is looked for.
    STEPS 40 steps: For the price of a label at which as many are lifted as fall.
    NEAR 1e-6 changes: So much less is a turn worth that leaves a label one further from the mean.
    SHORTEST 0.1 seconds: With less time, none is looked for.
    SECONDS 8.0 seconds: For these pairs, in a third of what is left at the most.
    PLACING 2.0 seconds: For a database with the known numbers that holds a pair.
    TURN 2e-6 seconds: For a turn up and one down.
    ENTRY 5e-9 seconds: For a turn of a cell at a price.
theorems/families/two_margins
    SECONDS 4.0 seconds: For the classes, and their cycles.
theorems/most_moves
    SECONDS 4.0 seconds: For all bounds on the number of moves together.
    FRAME_SECONDS 1.0 seconds: For those by affine frames.
    MOST_AREAS 12 areas: Queries with more areas are not looked at one by one.
    MOST_FACTS 2_000 facts: With more facts, Steinitz's lemma is not asked.
    MOST_EFFECTS 200_000 effects: More effects are not written out.
    MOST_CELLS 16_000 sets: So many sets of four cells with signs are looked at one by one.
    MOST_LISTED 40_000 pairs: So many pairs of values are compared for a stack of queries in another
        norm than l1.
theorems/one_sided
    SECONDS 4.0 seconds: For a count on one side of a fact beside cells.
    MOST_SHARED 300 lengths: So many lengths of a path that cycles share are tried.
theorems/simple_cycles
    SECONDS 10.0 seconds: For simple cycles of classes.
    MOST_ENTRIES 40_000_000 entries: Of the table of signatures, and of the query's rows.
    BOXES 6 boxes: So many boxes of a class are looked at for values.
theorems/two_cycles
    MOST_CLASSES 2_000 classes: With more, pairs of cycles are not looked for.
    MOST_TRIED 8 labels: So many labels below the largest are tried on each cycle.
theorems/values/class_changes
    FEW_OUTPUTS 12 outputs: With so few, all signs are tried.
    MANY_VALUES 40 values: Of so many values with different rows in one class, all pairs are looked
        at.
    MOST_ENTRIES 4_000_000 entries: Of the rows of a class.
    STARTS 12 starts: So many for a walk to two values that are far apart.
    SAFE 2^50 sum: Sums below this are exact in the arrays.
theorems/values/cuts
    MOST_SPOTS 24 places: So many places of interest on an axis are kept.
    FEW_SPOTS 8 places: So many, where an axis has more.
    MOST_CLASSES 400 classes: With more, axes are not cut.
    MOST_WAYS 2_000 ways: So many ways in which classes can go up or down are tried.
    ROUNDS 8 rounds: So many improve a cut.
    SAFE 2^62 sum: Sums below this fit 64 bits.
theorems/values/in_norms
    FEW_KINDS 40 kinds: Of so many kinds of classes each is tried as the one that is left once more.
    FEW_OUTPUTS 120 outputs: With so few, every two are compared (for the norm range).
    MANY_VALUES 40 values: Of so many values with different rows in one class, all pairs are looked
        at.
    MOST_ADDED 24 classes: So many are added one after the other, for squares.
    MOST_ORDERED 14 outputs: All orders of so many are gone through, for squares.
    MOST_ENTRIES 2_000_000 entries: Of the rows of all kinds of classes.
    MOST_SUMMED 20_000 changes: So many are added up one by one; of more, all are taken to be as
        large as the largest.
    MOST_WRITTEN 200_000 numbers: Of rows that are written out for what many exchanges change.
    ROUNDS 24 rounds: So many improve a choice.
    STARTS 4 directions: So many outputs, and classes, are tried first.
    SAFE 2^60 sum: Sums of squares below this are exact in the arrays.
    ENTRY 5e-9 seconds: For one number of a difference of two rows.
    VALUE 1e-5 seconds: For a value whose row is looked at.
    WRITTEN 5e-7 seconds: For a number of a row that is written out, or compared with others.
    SPREAD 1e-6 seconds: For a number of a row that is looked at for how far rows lie apart.
theorems/values/less_known
    MOST_OUTPUTS 40 outputs: Of more, facts are not taken away.
    MOST_ENTRIES 400_000 entries: Of larger tables of classes and facts neither.
    MOST_VALUES 400_000 numbers: Nor where all rows together have more.
    FINENESS 1_000 parts: How often a fact is taken away is rounded to such parts, at the most.
    SECONDS 2.0 seconds: For all outputs; those that are not reached keep their whole range.
theorems/values/lines_in_norms
    MOST_CROSSINGS 2_000_000 steps: For the two cuts that most classes cross; else all are taken.
theorems/values/one_secret_arc
    CHOICES 500 choices: So many are compared by what they change the query by.
    STARTS 90 arcs: How many secret arcs are tried.
    ORDERS 4 orders: In so many the other classes are put in between, if some fit nowhere.
    TURNED 60 choices: So many are tried with classes turned round.
    MOST_TURNED 60 classes: More are not turned round.
    TRIES 4_000 pairs: How many pairs of classes are looked at for a secret arc between them.
theorems/values/secret_arc_above
    MOST_PARTS 700 parts: Parts of classes that the query tells apart: each pair of them is looked
        at for an edge.
    MOST_BOXES 1_400 boxes: Boxes of these parts.
theorems/values/secret_cycles
    MOST_EDGES 400_000 edges: Of a graph with more, edges are not listed.
    MOST_COMPARED 200_000 pairs: Of edges between two classes, where the query tells more apart.
    LONG_ROW 1_000 entries: Differences of longer rows are not written out.
    APART 3 edges: Without a common end, between two classes: a histogram needs no more.
    MOST_TURNS 20 turns: How often each arc of a cycle is asked for a better edge.
    FINE 2^20 parts: Roots are rounded up to so many parts of one.
theorems/values/seen_values
    MOST_SEEN 200_000 values: More values are not looked at.
theorems/values/squares_beside
    MOST_CELLS 200 cells: Beside more, labels of two cycles are not tried one by one.
theorems/values/sums_along_edges
    MOST_SUMMED 5 attributes: Of sums of more, signs are too many.
    MOST_PAIRS 40_000 pairs: So many pairs of boxes are looked at for their best edge, for each
        choice of signs.
    MOST_OFFSETS 3_000 offsets: More on one axis are not tried.
    MOST_LEVELS 40 levels: So many weights of arcs are tried as the least of heavy ones.
    MOST_STEPS 100_000 steps: Of paths for the heaviest cycle; beyond them there are bounds.
    STEP 2e-6 seconds: For a step of a path, and for an offset.
theorems/values/tables_by_attribute
    MOST_TRIED 24 values: So many are tried for the record that moves along the edge.
theorems/values/tables_beside_one
    MOST_CLASSES 5_000 classes: More classes of values are too many for it.
    MOST_PIECES 500 boxes: Boxes of possible values of one class beyond which nothing is said.
witnesses/affine_frame
    FRAME 1.0 seconds: Seconds for the frames of a few signatures.
    MOST_RECORDS 200_000 records: Pairs with more records are not written out.
witnesses/compensated_move
    MOST_CLASSES 40 classes: With more, no program is made.
    STEEP 6 times: How many times the least ascent one record more in the row of the bound counts
        for.
witnesses/few_classes
    PATIENCE 4.0 seconds: For a pair over a few classes, where no time limit is set.
    SHORTEST 0.05 seconds: With less, it is not tried.
    GRACE 1.0 seconds: Seconds for a pair after the time is up, where the engines came back without
        any.
    IDLE 0.5 seconds: Seconds for single moves that no fact notices.
    TRIES 2 tries: So many are made in any case, until there is a pair.
    QUICK 0.4 seconds: Each of these tries has so many at least.
    ROUNDS 1_000 rounds: So many sets of classes are looked at.
    SPLITS 4 rounds: Rounds for each size where all classes are few: which moves are split is left
        to chance.
    MOST_NEIGHBOURS 400 classes: So many neighbours of a value in G are looked at.
    NEIGHBOURS 20 classes: So many of them are kept, by chance.
    MOST_AREAS 60 areas: Queries with more areas do not cut classes.
    BOXES 3 boxes: So many boxes of a class are looked at.
    ENTRY 3.6e-10 seconds: For a fact of a class that may join others.
    CANDIDATE 7e-6 seconds: For looking at a pair that may be one.
    MEMBER 1e-7 seconds: For an attribute of a class that may be in a box.
witnesses/four_cells
    MOST_CLASSES 300 classes: Of more classes some that share facts are looked at.
    MOST_FOURS 60 fours: So many are tried.
    MOST_BOXES 4 boxes: So many boxes of a class are looked at.
    MOST_THIRDS 4 classes: So many ways round are tried for a move along an edge.
witnesses/frames/fitted
    MOST_CLASSES 1_000 classes: Round more classes no cycles are made to fit.
    MOST_KINDS 60 labels: Nor where a class has so many.
    MOST_CYCLES 30 cycles: So many at the most make up a circuit.
    MOST_GROUPS 4 groups: So many groups of classes with the same labels may have branches.
    MOST_FIRST 3 cycles: So many at the most go round classes of other groups.
    MOST_RECORDS 100_000 records: Of larger databases a part is moved.
    LARGEST 2^40 records: Larger numbers have no cycles made to fit.
    STEPS 2_000 steps: To find how many classes each cycle has.
    QUIET 300 steps: After so many that gained nothing no more are made.
witnesses/frames/stops
    MOST_SWAPS 40 classes: So many are asked for a label that one of them comes with.
witnesses/frames/another_database
    SECONDS 4.0 seconds: For two databases with the known numbers, and all that is asked about them.
    ROUNDS 8 rounds: So many times two databases are looked for.
    MOST_CLASSES 3_000 classes: Of more, no databases are looked for.
    MOST_ENTRIES 2_000_000 entries: Of larger tables of facts and classes, none are.
    LARGEST 1_000_000 records: Larger numbers are not exact enough for the solver.
    NODES 2_000 nodes: After so many, a program has no answer.
    PARTS 200 parts: So many are taken away from what two databases differ in.
    SHORTEST 0.1 seconds: What each program has at least.
    ENTRY 1e-6 seconds: For each number of a program.
witnesses/frames/long_circuits
    IN_L1 0.75 part: Of the time for squares, frames are walked over for what they are worth in l1
        first.
    MOST_CLASSES 110 signatures: Of more, so many that share facts are walked over.
    MOST_ENTRIES 4_000_000 entries: Of larger tables of signatures none are.
    SECONDS 8.0 seconds: For all walks, where classes are many and steps long.
    EDGE 1e-6 seconds: For a pair of values that may be a secret.
    STEPS 30_000 steps: So many frames are gone to, all walks together.
    MOST_RECORDS 100_000 records: Circuits of more records are not written out.
    MOST_PLACED 20_000 records: Circuits of more records are not put into a database.
    MOST_TRIED 12 frames: So many are given values where their worth is not the best yet.
    NEARLY 0.8 part: What such frames are worth, of the best, at the least.
    AGREED 5 walks: When so many more end in a frame of the best worth, no better one is looked for.
    MOST_EDGES 3 edges: So many edges of G are tried for the one secret move of a circuit.
    MOST_JOINED 4_000 pairs: Of classes that edges join, to see how one more move joins a circuit.
    BOXES 4 boxes: So many boxes of a class are looked at for edges of G.
    SPREAD 5 values: Of each signature, where the rows of all of them are too many numbers.
witnesses/frames/one_more_move
    SOLVED 1e-6 seconds: For two effects of a circuit, to see whether one more move joins it.
witnesses/frames/walk
    STALL 8 steps: A walk that gains nothing in so many for each class begins anew.
    SHUFFLED 1 steps: So many for each class go anywhere, before those that look for weight.
    WARM 0.15 log: How much lighter, as a logarithm, a frame is that a walk goes to often, at first.
    COLD 0.01 log: The same in the end.
    COOLING 0.985 part: What a walk keeps of its warmth in each step, at the least.
    SLOWER 0.25 part: Later walks have cooled down after a step for each such part of a class and
        block.
    PIECE 0.5 seconds: After so long a walk says what it has found by then.
    LARGEST 2^46 determinant: Larger ones are not exact enough in floats.
    SECONDS_PER_STEP 7e-5 seconds: What a step costs.
    SECONDS_PER_ENTRY 2.2e-8 seconds: What it costs for each number of all frames that it looks at.
    SECONDS_PER_PRODUCT 1.7e-10 seconds: What it costs for each product of an inverse.
witnesses/frames/worth
    MOST_ENTRIES 4_000_000 numbers: Rows with more numbers are not written out.
    NUMBER 5e-7 seconds: For a number of a row that is written out.
    ENTRY 4e-9 seconds: For an output of two rows that are compared.
    PRODUCT 2e-9 seconds: For one product of what a frame moves and what that changes.
    MOST_PASSES 8 passes: So often values are looked over for better ones.
    LARGEST 1_000_000_000_000 records: Room for more is no limit.
    TIE 1e-12 part: Sizes that differ by less are equal.
    DECIMALS 6 decimals: Of the roots that are compared, so that equal frames are seen to be.
    APART 0.2 part: What a frame is worth that has no two classes of a path joined by an edge of G.
witnesses/merged_into_databases
    MOST_PARTS 20_000 parts: More parts of a pair are not listed.
    MOST_TRIED 20_000 multisets: So many are put into databases.
    MOST_SPLITS 5_000 splits: So many ways to name the records are tried.
    CHECK_SECONDS 5.0 seconds: For the check of a pair that was found.
witnesses/merged_multisets
    MOST_POOLED 4_000 multisets: So many of one sum are kept together.
    MOST_KEPT 100_000 multisets: So many are kept in all.
witnesses/merged_pairs
    VALUES_SECONDS 5.0 seconds: For values of the classes of a pair.
    BOUNDING 0.7 part: How much of the time goes into upper bounds, before pairs are looked for.
witnesses/one_secret_move
    PARTS_LIMIT 50_000 parts: More parts of a multiset are not listed.
    BOXES 6 boxes: So many boxes of a class are looked at.
    POINTS 5 values: So many values of a box are taken.
witnesses/random_values
    GRACE 1.0 seconds: Seconds past the end to check a pair that was found.
    AROUND 2.0 seconds: For classes near those that a pair moves.
    DRAWN 600 values: So many values are drawn for the records of D1 that stay, where there are too
        many classes.
    LARGEST 2^40 records: Larger counts are not drawn.
    TRIES 40 tries: So many databases are drawn for a pair.
    QUIET 12 tries: So many values are drawn for the records that stay.
    PLACES 3 places: So many places of an axis are drawn.
    MOST_NEAR 64 values: So many values near another are taken.
    MOST_RECORDS 100_000 records: Larger databases are not written out.
    MOST_BOXES 100 boxes: So many of a query's areas are drawn from, and of an area's boxes.
    MOST_DISTINCT 5_000 values: Databases of more different values are not written out.
witnesses/revalued
    SECONDS 3.0 seconds: For the best values of a pair's moves.
    MOST_MOVES 1_000 moves: Of more, values are swapped, and no program looks for the best.
    MOST_VALUES 240 values: Of more values the best are not looked for.
    MOST_AREAS 12 areas: Queries with more areas do not cut its classes.
    MOST_CORNERS 8 values: So many corners of a class are taken.
    PLACE 4e-6 seconds: For a value whose class is looked up.
    MOVE 2e-6 seconds: For a move of a pair.
    ENDS 5e-7 seconds: For a kind of moves that is put with others between the same classes.
witnesses/single_moves
    BOXES 4 boxes: So many boxes of a class are looked at.
    MOST_CORNERS 16 values: So many corners of a box are taken.
witnesses/split_along_edge
    MOST_NEIGHBOURS 400 classes: So many neighbours of a value in G are looked at.
    NEIGHBOURS 12 classes: So many of them are tried, by chance.
    MOST_SPLITS 400 splits: So many ways to split a move are tried.
    SAMPLE_BOXES 6 boxes: So many boxes of a class are looked at.
    ALIKE 3 values: How many values of a class are tried as z'.
"""
"""A row that is indented twice goes on with the one before; 2^20 is a power."""
