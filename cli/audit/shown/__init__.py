"""The audit as a screen, as JSON, as SARIF, and as an entry of the registry of deployments.

The JSON document is a contract, and the page in cli/report reads nothing else.

Read `screen`, `json_document`, `sarif`, `registry`.
"""
