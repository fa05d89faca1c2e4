"""Policy files: TOML in, the same policy out again, and errors with a line and a hint.

The format is a promise to users: old files stay readable, and every new key gets a message for
each way to get it wrong (tests/policies/malformed). `policy.schema.json` says the same to editors.

Read `reading`, `reading_parts`, `reading_facts`, `tables` (files beside a policy) and `writing`;
`toml_lines`, `toml_hints`, `toml_limits` and `toml_text` know TOML alone;
`policy_schema` finds the schema; `opendp_context` reads what another library declares (in a file,
or `opendp_live` in memory), and `registry_entry` what a public registry says of a deployment.
"""
