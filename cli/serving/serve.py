"""`blowproof serve`: the workbench, a local page to edit a policy and see what it takes."""

from __future__ import annotations

import errno
import secrets
import socket
from pathlib import Path

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import memory_option

__all__ = ["serve"]

HOST, PORT = "127.0.0.1", 8765


@click.command(
    short_help="The workbench: a local page to edit a policy and see S at once.",
    epilog="Example: blowproof serve examples",
)
@click.argument(
    "folder", type=click.Path(exists=True, file_okay=False), metavar="[FOLDER]", default="."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Where to listen on this machine.  [default: 8765, or a free one]",
)
@click.option("--open", "shown", is_flag=True, help="Open the page in the browser.")
@memory_option
def serve(folder: str, port: int | None, shown: bool) -> int:
    """The workbench, as a page for the browser of this machine. Ctrl-C ends it.

    Policies in FOLDER (by default: this one) and the examples can be opened; files that a policy
    names are read from there and from nowhere else. Nothing is written, and nothing leaves the
    machine: the page can be saved, and its address holds the policy.
    """
    try:
        from blowproof.cli.serving.app import application
    except ImportError as error:
        raise click.UsageError(
            f"the workbench needs {error.name}: pip install starlette uvicorn"
        ) from None
    from blowproof.cli.asking.memory import limit
    from blowproof.cli.serving.pool import Pool

    listening = _listening(port)
    token = secrets.token_urlsafe(24)
    place = listening.getsockname()[1]
    address = f"http://{HOST}:{place}/?token={token}"
    click.echo(f"{address}\n(open it in a browser of this machine; Ctrl-C ends the workbench)")
    hosts = frozenset({f"{HOST}:{place}", f"localhost:{place}"})
    pool = Pool(memory=limit())
    try:
        pool.prepare_soon()
        if shown:
            import webbrowser

            webbrowser.open(address)
        _run(application(Path(folder).resolve(), pool, token, hosts), listening)
    finally:
        pool.close()
        listening.close()
    return Exit.OK


def _run(app: object, listening: socket.socket) -> None:
    """Serve until Ctrl-C, or until a signal asks to end."""
    from contextlib import suppress

    import uvicorn

    config = uvicorn.Config(
        app,  # type: ignore[arg-type] # a Starlette is one
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    with suppress(KeyboardInterrupt):  # raised once more when all is shut down
        uvicorn.Server(config).run(sockets=[listening])


def _listening(port: int | None) -> socket.socket:
    """Return a socket of this machine alone: at the port asked for, else at a free one."""
    for place in (PORT, 0) if port is None else (port,):
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, place))
            found.listen(64)
        except OSError as error:
            found.close()
            if port is None and place:
                continue
            why = "taken" if error.errno == errno.EADDRINUSE else (error.strerror or "closed to us")
            raise click.UsageError(f"port {port} is {why}: try another, or --port 0") from None
        return found
    raise click.UsageError("no port of this machine is free")
