# Initialisation: selects the trainer that gives the servers their parameters; all others wait for it.
from __future__ import annotations

from collections.abc import Callable

from ..errors import AlreadyInitialised, NotInitialised, StaleToken
from ..messages import Wait
from ..protocol import BeginInit, EndInit
from ..replies import Done, Initialiser
from ..values import ServerRow
from .coordinator_settings import CoordinatorSettings
from .leases import Leases
from .members import Members
from .tables import Part, Table

_RIGHT = "initialise"


class Initialisation(Part):
    """renew(request): renews the lease of the trainer that sends a request; its number as text."""

    def __init__(
        self, settings: CoordinatorSettings, leases: Leases, servers: Members, renew: Callable[[BeginInit | EndInit], str]
    ):
        self._settings, self._leases, self._servers, self._renew = settings, leases, servers, renew
        self._finished: Table[int, bool] = Table()  # tokens of completed initialisations
        self.tables = {"finished": self._finished}

    def is_finished(self, token: int | None) -> bool:
        """Whether this is the token of a completed initialisation."""
        return token in self._finished

    def server_rows(self) -> list[ServerRow]:
        return [ServerRow(number, member.incarnation, **member.facts) for number, member in sorted(self._servers.present.items())]

    def is_complete(self) -> bool:
        """Whether all servers have parameters."""
        rows = self.server_rows()
        return len(rows) == self._settings.servers and all(row.initialised for row in rows)

    def begin(self, request: BeginInit) -> Initialiser | Wait:
        """Selects one trainer at a time and names the servers that it must initialise; the others wait until every
        server has its parameters. The initialiser renews its lease by repeating the request."""
        trainer, rows = self._renew(request), self.server_rows()
        if self.is_complete():
            return Initialiser(None, rows)
        if len(rows) < self._settings.servers:
            return Wait()
        token = self._leases.acquire(_RIGHT, trainer, request.incarnation, self._settings.init_lease)
        return Wait() if token is None else Initialiser(token, [row for row in rows if not row.initialised])

    def end(self, request: EndInit) -> Done:
        """Ends an initialisation, if every server has finished; otherwise nothing changes."""
        trainer, token = self._renew(request), request.token
        if token in self._finished:
            return Done(repeated=True)
        if self.is_complete():
            raise AlreadyInitialised("all servers are initialised, by another trainer")
        if not self._leases.holds(_RIGHT, trainer, request.incarnation, token):
            raise StaleToken(f"token {token} is not that of the initialiser: another trainer was selected")
        rows = self.server_rows()
        done = {row.server for row in rows if row.initialised or (row.server, row.incarnation) in request.servers}
        missing = sorted(set(range(self._settings.servers)) - done)
        if missing:
            raise NotInitialised(
                f"server {missing[0]} has not finished, or restarted since; begin_init names the servers that need parameters"
            )
        self._servers.set_fact("initialised", True)
        self._finished[token] = True
        self.abandon(trainer)
        return Done()

    def abandon(self, trainer: str) -> None:
        """Another trainer is selected at once, if this one was."""
        self._leases.release(_RIGHT, trainer)
