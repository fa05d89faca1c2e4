"""`python -m blowproof.cli`."""

from blowproof.cli.main import main

main()
