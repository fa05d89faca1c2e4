"""`blowproof schema`: the JSON Schema of the policy file."""

from __future__ import annotations

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import json_option

__all__ = ["schema"]


@click.command(
    short_help="The JSON Schema of the policy file.",
    epilog="Example: blowproof schema > policy.schema.json",
)
@json_option
def schema(as_json: bool) -> int:
    """The JSON Schema of the policy file, for editors that complete and check it."""
    import json

    from blowproof.cli.text.output import quietly, write
    from blowproof.models.files.policy_schema import schema as policy_schema

    with quietly():
        write(json.dumps(policy_schema(), indent=2) + "\n")
    return Exit.OK
