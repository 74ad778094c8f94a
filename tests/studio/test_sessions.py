"""Sessions end by themselves, and are never more than a fixed number."""

from __future__ import annotations

from intentmatch.studio.host import Visitor
from intentmatch.studio.sessions import Sessions

ANNA = Visitor("anna", b"KEY")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_token_finds_its_session_and_no_other_does():
    sessions = Sessions()
    token, session = sessions.begin(ANNA)

    assert sessions.find(token) is session
    assert session.visitor is ANNA
    assert sessions.find(None) is None
    assert sessions.find("") is None
    assert sessions.find(f"{token}x") is None


def test_tokens_are_long_and_never_the_same():
    sessions = Sessions()
    tokens = {sessions.begin(ANNA)[0] for _ in range(100)}

    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 40


def test_sessions_are_bounded_and_the_least_recently_used_ends():
    sessions = Sessions(most=2)
    (first, _), (second, forgotten) = sessions.begin(ANNA), sessions.begin(ANNA)
    sessions.find(first)
    sessions.begin(ANNA)

    assert len(sessions) == 2
    assert sessions.find(first) is not None
    assert sessions.find(second) is None
    assert forgotten.ended


def test_session_without_requests_ends():
    clock = Clock()
    sessions = Sessions(seconds=10, clock=clock)
    token, session = sessions.begin(ANNA)
    clock.now = 9
    assert sessions.find(token) is session
    clock.now = 18
    assert sessions.find(token) is session
    clock.now = 29

    assert sessions.find(token) is None
    assert session.ended
    assert len(sessions) == 0


def test_sign_out_ends_the_session_for_open_pages_too():
    sessions = Sessions()
    token, session = sessions.begin(ANNA)
    sessions.end(token)
    sessions.end(None)

    assert sessions.find(token) is None
    assert session.ended


def test_memory_holds_no_token():
    sessions = Sessions()
    token, _ = sessions.begin(ANNA)

    assert token not in repr(vars(sessions))


class Opened:
    closed = 0

    def check(self) -> None: ...

    def close(self) -> None:
        self.closed += 1


def test_end_of_a_session_closes_what_it_has_open():
    sessions = Sessions()
    token, session = sessions.begin(ANNA)
    page, socket = Opened(), Opened()
    session.pages.add(page)
    session.sockets.add(socket)
    sessions.end(token)

    assert (page.closed, socket.closed) == (1, 1)


def test_one_key_ends_only_its_own_sessions():
    sessions = Sessions(most=10, most_of_a_key=3)
    token, _ = sessions.begin(Visitor("bob", b"OTHER"))
    (first, _), *_ = [sessions.begin(ANNA) for _ in range(100)]

    assert len(sessions) == 4
    assert sessions.find(token) is not None
    assert sessions.find(first) is None


def test_key_with_most_sessions_makes_room_for_others():
    sessions = Sessions(most=4, most_of_a_key=3)
    first, _ = sessions.begin(ANNA)
    sessions.begin(ANNA)
    one, _ = sessions.begin(Visitor("bob", b"B"))
    two, _ = sessions.begin(Visitor("eve", b"C"))
    three, _ = sessions.begin(Visitor("joe", b"D"))

    assert sessions.find(first) is None
    assert [sessions.find(token) is not None for token in (one, two, three)] == [True] * 3


def test_visitors_without_a_key_are_bounded_together():
    sessions = Sessions(most=5, most_of_a_key=2)
    for _ in range(8):
        sessions.begin(Visitor("you"))

    assert len(sessions) == 5
