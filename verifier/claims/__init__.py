"""The claims ledger: published statements as data, checked again by `blowproof claims`.

Reading order: the room stating (what a claim is, instances, measures), `run` (one part over its
family), `shrink` (smaller counterexamples), `version` (by which engines), `ledger` (all of them),
`record` (JSON and what changed), `written` (its file), `state` (interrupted runs), `session` (many
claims), `cores` (many at once), `passed` (sentences without a row), `page` (CLAIMS.md). Then a room
for each paper, with one module for each section or theorem, and `ours`.

*Adding a claim.* Write it into the module of its section (CLAIMS at its end; a new module needs a
line in `ledger.MODULES`), for instance::

    Claim(
        id="blowfish-2014/corollary-8.3",        # paper file's stem, then the name
        source="Section 8.1, Corollary 8.3",      # where it stands
        quote="if Q is sparse",                   # a few words by which it is found, no sentence
        statement="...",                          # one line, our own words
        read_as="...",                            # one line: how the sentence was read
        parts=in_readings(                        # one Part for each reading
            Part(
                name="bound",
                family=family("shapes in words", quick, full),   # functions that yield Instances
                claimed=_corollary,               # Instance -> number; None: not spoken about
                measure=Sensitivity("published"),  # or Loss, Positive, Counted, Shown
                relation="<=",                    # S <= claimed; equality and bound apart
                answers="any",
            ),
            sensitivities(),
        ),
        repaired="...", amendment="condition",    # or "misprint", "formula"
        explanation="...",
        proof="...",                              # by hand; proof_in="..." where it stands in full
        identities=(Identity("what it is", "left", "right", whole="n k", real="e"),),  # by sympy
    )

The formula is a small function of its own; the measure never calls it. `small` and `large` of a
Part say what trusting a number that is too small or too large costs. Parts with `amended=True`
check the repair. The grade of a failure follows: `misprint` where the amendment is one and the
repair holds; `degenerate` where every failing instance has one value, one record, one cluster or no
secret pair (`stating.grades`, and a part's own `degenerate=`); else `substantial`. What holds and
has neither a proof, nor identities, nor a part with `kernel=True`, nor `listed=True` (the instances
are all there are) is `holds-checked`. A result of our own has a `status`. A claim without parts
says `why_not`. `claimed` has to return None for whatever the statement does not speak about, also
for the smaller instances that `shrink` tries. Quick families take about a second each and hold a
smallest counterexample, if there is one. A sentence that gets no row is listed in
passed_over.json. Then::

    blowproof claims ID                           # look at it
    blowproof claims ID --full --write .          # record it, and renew CLAIMS.md
    blowproof claims --retell .                   # only texts were edited: renew them, run nothing
"""
