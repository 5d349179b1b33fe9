# Peers: the other trainers of a job in collective mode, whose gradients, means and states a trainer reads.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..client import Call, Client
from ..collective_protocol import GetAddresses, GetGradient, GetMean, GetMemory, GetState, Wake
from ..engine import TrainerLink
from ..errors import ClusterError, Gone, Timeout
from ..replies import Arrived, StoredState
from ..values import MemberId, StepId
from ..wire import Arrays
from .flat_buffer import Fields
from .gradient_memory import GradientMemory, Numbered


class Read(NamedTuple):
    """A share that another trainer has. memory, serial: where it is, and its number; None for a copy."""

    arrays: Arrays
    memory: Numbered | None
    serial: int

    def is_intact(self) -> bool:
        """Whether what was read until now is what it was when it was asked for."""
        return self.memory is None or self.memory.serial == self.serial


class Peers:
    """link: on which they are found; client: for requests to the coordinator; patient: to trainers, which gives up after the time
    in which a silent one is lost. fields: of the gradients, which are the same everywhere."""

    def __init__(self, link: TrainerLink, client: Client, patient: Client, fields: Fields):
        self._link, self._client, self._patient, self._fields = link, client, patient, fields
        self._memories: dict[MemberId, GradientMemory | None] = {}  # known trainers; None: it can't be read here

    def gradients(self, arrived: Arrived, step_id: StepId, share: int, has_brought: bool) -> list[Read] | None:
        """This share of the gradient of each contributor but the one that computes it, which asks for those that it can't read;
        None if one is missing. has_brought: the own gradient is in the memory now: the own service answers those that wait
        for it."""
        of = arrived.contributors
        others = [(life, number) for at, (life, number) in enumerate(zip(of, arrived.numbers)) if at != share]
        if not self._meet([life for life, _ in others]):
            return None
        read = {}
        for life, number in others:
            memory = self._memories[life]
            if memory is not None and number:
                read[life] = Read(memory.gradient.buffer.share(share, len(of)), memory.gradient, number)
        asked = [(life, share) for life, _ in others if life not in read]
        found = self._read(GetGradient, asked, step_id, len(of), _wakes(of[share], has_brought and others))
        if found is None:
            return None
        read.update(zip([life for life, _ in asked], found))
        return [read[life] for life, _ in others]

    def means(self, of: Sequence[MemberId], step_id: StepId, own: int | None) -> list[Read] | None:
        """The share of the mean that each contributor computes, but the own one, which is known now: the own service answers
        those that wait for it. None if one is missing."""
        asked = [(life, number) for number, life in enumerate(of) if number != own]
        return self._read(GetMean, asked, step_id, len(of), [] if own is None else _wakes(of[own], asked))

    def state(self, holder: MemberId, key: str) -> StoredState | None:
        """The state that a trainer keeps; None if it has not, or no longer."""
        if not self._meet([holder]):
            return None
        (found,) = self._replies([Call(_name(holder), GetState(key))]) or [None]
        return found if found is not None and found.state is not None else None

    def _read(
        self,
        kind: type[GetGradient],
        asked: Sequence[tuple[MemberId, int]],
        step_id: StepId,
        shares: int,
        others: Sequence[Call] = (),
    ) -> list[Read] | None:
        """others: requests that go first."""
        if not self._meet([life for life, _ in asked]):
            return None
        memories = [self._memories[life] for life, _ in asked]
        calls = [
            Call(_name(life), kind(step_id, share, shares, copies=memory is None))
            for (life, share), memory in zip(asked, memories)
        ]
        replies = self._replies([*others, *calls])
        if replies is None:
            return None
        replies = replies[len(others) :]
        if any(reply.missing for reply in replies):
            return None
        found = []
        for (_, share), memory, reply in zip(asked, memories, replies):
            values = None if memory is None else memory.mean if kind is GetMean else memory.gradient
            arrays = reply.arrays if values is None else values.buffer.share(share, shares)
            found.append(Read(arrays, values, reply.serial))
        return found

    def _meet(self, lives: Sequence[MemberId]) -> bool:
        """Whether all of them are known, or have become known now."""
        new = [life for life in lives if life not in self._memories]
        if not new:
            return True
        addresses = self._client.request("coordinator", GetAddresses(new)).addresses
        if not all(addresses):
            return False
        for life, address in zip(new, addresses):
            self._link.learn(_name(life), address)
        replies = self._replies([Call(_name(life), GetMemory()) for life in new])
        if replies is None:
            return False
        for life, reply in zip(new, replies):
            for former in [one for one in self._memories if one.number == life.number]:
                del self._memories[former]
            self._memories[life] = None if reply.place is None else GradientMemory.opened(self._fields, reply.place)
        return True

    def _replies(self, calls: Sequence[Call]) -> list[Any] | None:
        """None if a trainer does not answer, which may have died."""
        results = self._patient.request_all(calls)
        for one in results:
            if isinstance(one, ClusterError) and not isinstance(one, (Gone, Timeout)):
                raise one
        return None if any(isinstance(one, ClusterError) for one in results) else results


def _wakes(own: MemberId, others_wait: object) -> list[Call]:
    return [Call(_name(own), Wake())] if others_wait else []


def _name(life: MemberId) -> str:
    return f"trainer {life.number}"
