"""The audit as a screen, as JSON, and as SARIF.

The JSON document is a contract, and the page in cli/report reads nothing else.

Read `screen`, `json_document`, `sarif`.
"""
