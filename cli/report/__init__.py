"""The audit's report as a page.

`story` adds to the JSON document what is drawn; `page` turns the document into HTML, with
`charts`, `graph`, `pair`, `attack`, `belief`, `plan_section`, `odds_section` and `record` for its
parts, `terms` for its words, and style.css and script.js put into the page. All text goes through
`html`, which escapes it; the page loads nothing from elsewhere. Pictures are drawn on `paper`,
broad and slim. `ledger_pages` shows the ledger of claims.
"""
