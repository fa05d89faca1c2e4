"""The text of a first policy, with a comment wherever somebody may want to decide otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from textwrap import wrap

from blowproof.cli.beginning.choices import Choices, Secret
from blowproof.cli.beginning.source import Source
from blowproof.models.base.numbers import show
from blowproof.models.data.inferred import Inferred
from blowproof.models.data.nested import Nested
from blowproof.models.domain.attributes import Attribute, Integers, Labels
from blowproof.models.files.toml_text import inline
from blowproof.models.policy.in_words import printable

__all__ = ["policy_text"]

WIDTH = 96

SECRETS = {
    "full": "everything: no two values of a record can be told apart",
    "attribute": "each column by itself: values that differ in one column",
    "partition": "everything but the group: values that agree on these columns",
    "distance": "numbers that are near each other",
}
"""What each kind of secret means, in the words of the questions."""


def policy_text(
    source: Source,
    rows: int | None,
    columns: Sequence[Inferred],
    choices: Choices,
    nested: Sequence[Nested] = (),
) -> str:
    """Return a policy file with comments: what was found, what was chosen, and what else may be.

    What is `nested` and not chosen stands in comments.
    """
    where = f"from {printable(source.shown)}" if source.shown else "without data"
    parts = [
        *_comment(
            f"A first policy, {where}, by `blowproof init`: what nobody may find out, and what "
            "everybody knows already. Every line is yours to change; `blowproof schema` has all "
            "keys."
        ),
        "",
        *_domain(source.shown, columns),
        "",
        *_secrets(choices.secret, columns),
        "",
        *_database(source, rows, choices),
        *_known(choices),
        *_nested(columns, choices, nested),
        "",
        "# What will be published:",
        *(f"#   blowproof audit THIS --query {quote(query)}" for query in choices.queries),
    ]
    return "\n".join(parts) + "\n"


def _comment(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(text, WIDTH - 2, break_on_hyphens=False))


def _domain(source: str | None, columns: Sequence[Inferred]) -> Iterator[str]:
    yield "[domain]"
    yield from _comment(
        "What a record can hold. A policy is public, and so is this list: it should have every "
        "value that is possible, and no value because one person happens to have it."
        if source
        else "What a record can hold."
    )
    for item in columns:
        if item.attribute is None:
            continue
        said = item.words
        if item.alike:
            same = "; ".join(" and ".join(map(repr, group)) for group in item.alike[:3])
            said += f". Spelled alike, and different labels all the same: {same}"
        yield from _comment(printable(said))
        yield f"{_key(item.name)} = {_attribute(item.attribute)}"
    for item in columns:
        if item.attribute is None:
            yield from _comment(f"Left out: {printable(item.name)} ({printable(item.words)})")


def _key(name: str) -> str:
    return inline({name: 0}).removeprefix("{ ").removesuffix(" = 0 }")


def _attribute(attribute: Attribute) -> str:
    if isinstance(attribute, Integers):
        return inline({"min": attribute.min, "max": attribute.max})
    if not isinstance(attribute, Labels):
        ends = (("min", attribute.min), ("max", attribute.max), ("step", attribute.step))
        return inline({key: int(v) if v.denominator == 1 else show(v) for key, v in ends})
    labels = list(map(inline, attribute.labels))
    short = f"[{', '.join(labels)}]"
    if len(short) > WIDTH - 20:
        lines, line = [], "   "
        for label in labels:
            if len(line) + len(label) > WIDTH and line.strip():
                lines.append(line)
                line = "   "
            line += f" {label},"
        short = "\n".join(["[", *lines, line, "]"])
    return f"{{ labels = {short}, ordered = true }}" if attribute.ordered else short


def _secrets(secret: Secret, columns: Sequence[Inferred]) -> Iterator[str]:
    yield "[secrets]"
    yield from _comment(f"What may nobody find out about a person? {SECRETS[secret.kind]}.")
    yield from _kind(secret)
    numbers = [item.name for item in columns if item.attribute and item.attribute.ordered]
    first = next((item.name for item in columns if item.attribute), "")
    others = [Secret(), Secret("attribute"), Secret("partition", (first,))]
    others += [Secret("distance", (numbers[0],), "5")] if numbers else []
    yield "# It could also be:"
    for other in others:
        if other.kind != secret.kind:
            yield f"#   {'   '.join(_kind(other))}   # {SECRETS[other.kind]}"


def _kind(secret: Secret) -> Iterator[str]:
    yield f"kind = {inline(secret.kind)}"
    if secret.kind == "attribute":
        yield "changes = 1"
    elif secret.kind == "partition":
        yield f"by = {inline(list(secret.columns))}"
    elif secret.kind == "distance":
        yield 'metric = "l1"'
        yield f"threshold = {secret.near if secret.near.isdecimal() else inline(secret.near)}"
        yield f"attributes = {inline(list(secret.columns))}"


def _database(source: Source, rows: int | None, choices: Choices) -> Iterator[str]:
    yield "[database]"
    size = rows if choices.size_public else None
    words = "The worst case over all numbers that what is public can have"
    yield from _comment(f"{words}: safe whatever the data are.")
    yield 'answers = "any"'
    if size is not None:
        yield f"size = {size}   # how many people there are, since that is public"
    yield from _comment(
        'With answers = "given" noise is set for the public numbers alone, which may take less. '
        "They are then counted in the data, if it says"
    )
    yield f"#   data = {source.written}"


def _known(choices: Choices) -> Iterator[str]:
    if not choices.public:
        yield ""
        yield from _comment("Nothing else is public. If counts are known, each table of them is")
        yield from ("#   [[known]]", '#   marginal = ["COLUMN", ...]')
        return
    for names in choices.public:
        yield ""
        yield "[[known]]"
        yield f"# Public: how many people have each {printable(' and '.join(names))}."
        yield f"marginal = {inline(list(names))}"


def _nested(
    columns: Sequence[Inferred], choices: Choices, nested: Sequence[Nested]
) -> Iterator[str]:
    """Which labels lie within which others: a fact where all know it, else in comments."""
    labels = {item.name: item.attribute for item in columns if isinstance(item.attribute, Labels)}
    for item in dict.fromkeys((*choices.nested, *nested)):
        known = item in choices.nested
        inner, outer = printable(item.inner), printable(item.outer)
        yield ""
        yield from _comment(
            f"Public: which {outer} each {inner} has. There are no others, so nobody has them."
            if known
            else f"In the data each {inner} has one {outer}. If everybody knows which, nobody is "
            "taken to have another: then uncomment what follows, which often takes less noise."
        )
        regions = item.impossible(list(map(str, labels[item.outer].labels)))
        rows = [f"    {inline(region)}," for region in regions]
        for row in ("[[known]]", "impossible = [", *rows, "]"):
            yield row if known else f"# {row}"
