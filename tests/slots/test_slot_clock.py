"""Times of day, in digits and in words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.clock import find_times


@given(st.integers(0, 23), st.integers(0, 59))
def test_every_minute_of_the_day_is_found(hour, minute):
    value = f"{hour:02}:{minute:02}"
    half = f"{(hour - 1) % 12 + 1}:{minute:02} {'pm' if hour >= 12 else 'am'}"

    assert found(find_times, f"({value})", "sw") == {value: value}
    assert found(find_times, f"dès {hour}h{minute:02}!", "fr") == {f"{hour}h{minute:02}": value}
    assert found(find_times, half, "en") == {half: value}


LANGUAGES = st.sampled_from(["en", "de", "zh", "ko", "tr", "ar", "sv", "tlh", None])


@given(st.text() | st.text(st.sampled_from("0123456789: .hpamt６時半点 ")), LANGUAGES)
def test_any_text_gives_valid_hits(text, language):
    for value in found(find_times, text, language).values():
        assert re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", str(value))
