"""Which questions a strategy is not for, each refusal with its reason: `explain` prints them."""

from __future__ import annotations

from collections.abc import Callable

from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.question import Question
from blowproof.verifier.engines.one_move.worst_edge import one_secret_move
from blowproof.verifier.reductions.by_ends import weighted_prefixes
from blowproof.verifier.reductions.merged_records import merged_rows

__all__ = [
    "either",
    "minimal",
    "mixed",
    "no_any",
    "no_bounds",
    "no_clauses",
    "no_conformal",
    "no_edges",
    "no_ends",
    "no_frames",
    "no_graph",
    "no_hilbert",
    "no_ilp",
    "no_labels",
    "no_merging",
    "no_numbers",
    "no_parts",
    "no_placing",
    "no_sat",
    "no_search",
    "not_minimal",
    "not_mixed",
    "only_mixed",
    "only_pufferfish",
    "single_records",
]

Refusal = Callable[[Question], str]


def either(*refusals: Refusal) -> Refusal:
    """Return the first refusal of several.

    >>> either(lambda question: "", lambda question: "no")(None)
    'no'
    """
    return lambda question: next(filter(None, (each(question) for each in refusals)), "")


def single_records(question: Question) -> str:
    """Refuse a query that weighs single records."""
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    return ""


def mixed(question: Question) -> bool:
    """Return whether moves may be secret or plain: readings 1 and 5, a G that is not complete."""
    return is_mixed(question.reading) and not question.setting.graph.complete


def not_mixed(question: Question) -> str:
    """Refuse questions in which every move is secret."""
    return "" if mixed(question) else "every move is a secret one"


def only_mixed(question: Question) -> str:
    """Refuse questions in which moves may be secret or plain."""
    return "moves may be secret or plain" if mixed(question) else ""


def no_labels(question: Question) -> str:
    """Refuse readings in which G plays no part."""
    return "" if is_labelled(question.reading) else "G plays no part in this reading"


def no_any(question: Question) -> str:
    """Refuse scope "given"."""
    return "" if question.setting.scope == "any" else "it is about any answers"


def no_bounds(question: Question) -> str:
    """Refuse bounds."""
    return "there are bounds" if question.setting.bounds else ""


def no_edges(question: Question) -> str:
    """Refuse where records are tied together."""
    if not one_secret_move(question.setting, question.reading):
        return "facts tie records together, or the reading is not about one record"
    return ""


def no_frames(question: Question) -> str:
    """Refuse what the theorem on affine frames does not speak about."""
    setting = question.setting
    if setting.scope == "given" or setting.bounds or setting.clauses:
        return "it speaks about equality counts and any answers"
    if not is_labelled(question.reading) or not is_histogram(question.query):
        return "it speaks about histograms, in readings 1 and 2"
    return ""


def no_search(question: Question) -> str:
    """Refuse where neighbours are no irreducible multisets, and no reduction makes them some."""
    setting = question.setting
    if setting.bounds or setting.clauses or question.reading == "markov":
        return "it answers equality counts, in readings 1 to 3"
    return ""


def no_graph(question: Question) -> str:
    """Refuse where the policy graph bounds no histogram."""
    if not question.irreducible or question.setting.scope == "given":
        return "it bounds irreducible multisets of moves, for any answers"
    if not is_labelled(question.reading) or not is_histogram(question.query):
        return "it speaks about histograms, in readings 1 and 2"
    return ""


def not_minimal(question: Question) -> str:
    """Refuse reading 5 where its pairs need not be minimal."""
    setting = question.setting
    if question.reading == "pufferfish" and (setting.bounds or setting.clauses):
        return "its theorems are about minimal pairs, and those of reading 5 need not be"
    return ""


def only_pufferfish(question: Question) -> str:
    """Refuse all readings but the fifth."""
    return "" if question.reading == "pufferfish" else "it is for reading 5"


def minimal(question: Question) -> str:
    """Refuse where pairs are minimal: all readings but the fifth, and that with equality counts."""
    return "" if not_minimal(question) else "neighbours are minimal"


def no_numbers(question: Question) -> str:
    """Refuse scope "any"."""
    return "" if question.setting.scope == "given" else "it is about the known numbers"


def no_clauses(question: Question) -> str:
    """Refuse where there are no clauses to leave out."""
    return not_minimal(question) if question.setting.clauses else "there are no clauses"


def no_parts(question: Question) -> str:
    """Refuse where facts are no bounds or clauses."""
    if not question.setting.clauses and not question.setting.bounds:
        return "there are no bounds or clauses"
    if question.reading == "markov":
        return "reading 4 is never minimal"
    return not_minimal(question)


def no_conformal(question: Question) -> str:
    """Refuse where pairs have no conformal parts; in reading 5 they have, with bounds alone."""
    bounds_alone = question.setting.bounds and not question.setting.clauses
    return "" if question.reading == "pufferfish" and bounds_alone else no_parts(question)


def no_placing(question: Question) -> str:
    """Refuse where multisets cannot be put into databases one by one."""
    if question.setting.clauses:
        return "it knows no single records"
    if question.reading == "markov":
        return "reading 4 has no irreducible multisets"
    return not_minimal(question)


def no_merging(question: Question) -> str:
    """Refuse where the records of clauses cannot be merged."""
    if not question.setting.clauses:
        return "there are no clauses"
    if merged_rows(question.setting, question.reading) is None:
        return "no theorem merges the records of these clauses"
    return not_minimal(question)


def no_sat(question: Question) -> str:
    """Refuse readings without labels."""
    if not is_labelled(question.reading):
        return f"it labels records, and reading {question.reading!r} does not"
    return ""


def no_ilp(question: Question) -> str:
    """Refuse where histograms do not say enough."""
    clauses = bool(question.setting.clauses)
    if question.query.per_record or (clauses and is_labelled(question.reading)):
        return "it knows no single records"
    return ""


def no_hilbert(question: Question) -> str:
    """Refuse where neighbours are no Hilbert basis."""
    if question.setting.scope != "any" or not question.irreducible:
        return (
            "it lists irreducible multisets: scope any, equality counts, and a complete G or a "
            "reading other than published"
        )
    return ""


def no_ends(question: Question) -> str:
    """Refuse all but cumulative histograms."""
    setting = question.setting
    if weighted_prefixes(question.query) is None:
        return "it is for cumulative histograms"
    if not is_labelled(question.reading) or setting.bounds or setting.clauses:
        return "it answers equality counts, in readings 1 and 2"
    return ""
