"""Sessions end by themselves, and are never more than a fixed number."""

from __future__ import annotations

from intentmatch.studio.host import Visitor
from intentmatch.studio.sessions import Sessions

ANNA = Visitor("anna", "KEY")


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
