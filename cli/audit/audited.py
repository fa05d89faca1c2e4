"""What an audit has found, as one object: see its class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from blowproof.cli.asking.errors import Exit

if TYPE_CHECKING:
    from blowproof.cli.audit.findings import Finding
    from blowproof.models import Policy
    from blowproof.verifier.certify.base.verdict import Certified

__all__ = ["Audited"]


class Audited:
    """An audit: the policy, its scope, n where it is known, and what was found."""

    def __init__(
        self,
        policy: Policy,
        scope: str,
        size: int | None,
        findings: list[Finding],
        mechanism: Certified | None = None,
        pictures: Sequence[dict[str, Any] | None] = (),
    ) -> None:
        self.policy = policy
        self.scope = scope
        self.size = size
        self.findings = findings
        self.mechanism = mechanism
        self.pictures = pictures

    @property
    def code(self) -> Exit:
        """The exit code: a plan that fails weighs more than an open question."""
        from blowproof.cli.asking.judge import verdict_code
        from blowproof.cli.audit.findings import worst

        codes = [finding.code for finding in self.findings]
        return worst(codes if self.mechanism is None else [*codes, verdict_code(self.mechanism)])
