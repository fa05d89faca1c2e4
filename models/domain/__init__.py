"""The domain: what one record can hold, without ever listing it.

Values are positions on axes. Areas are unions of boxes, so that domains of 10^24 values cost no
more than small ones; keep it so, and list values only where a caller asks for them.

Read `attributes`, `regions` (with `overlap`: which boxes meet; `region_reading`: from a file),
`domain`; then `classes` (values that no area tells apart become one) and `class_diagram`, which
finds them, and `lookup` (which areas hold a value).
"""
