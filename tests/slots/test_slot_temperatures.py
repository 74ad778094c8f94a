"""Temperatures."""

from __future__ import annotations

import pytest
from slot_helpers import found

from intentmatch.slots.temperatures import TemperatureFinder


@pytest.mark.parametrize(
    ("language", "text", "said", "amount", "unit"),
    [
        ("en", "set it to 21 degrees", "21 degrees", 21, None),
        ("en", "70°F", "70°F", 70, "F"),
        ("en", "20C please", "20C", 20, "C"),
        ("en", "19.5 °C", "19.5 °C", 19.5, "C"),
        ("en", "minus five degrees celsius", "minus five degrees celsius", -5, "C"),
        ("en", "-5 degrees", "-5 degrees", -5, None),
        ("en", "300 kelvin", "300 kelvin", 300, "K"),
        ("de", "zwanzig Grad", "zwanzig Grad", 20, None),
        ("de", "minus 3 Grad Celsius", "minus 3 Grad Celsius", -3, "C"),
        ("es", "20 grados centígrados", "20 grados centígrados", 20, "C"),
        ("fr", "vingt degrés", "vingt degrés", 20, None),
        ("it", "18°", "18°", 18, None),
        ("pt", "20 graus", "20 graus", 20, None),
        ("nl", "20 graden", "20 graden", 20, None),
        ("pl", "20 stopni Celsjusza", "20 stopni Celsjusza", 20, "C"),
        ("ru", "минус 10 градусов Цельсия", "минус 10 градусов Цельсия", -10, "C"),
        ("tr", "20 derece", "20 derece", 20, None),
        ("ar", "20 درجة", "20 درجة", 20, None),
        ("fa", "۲۰ درجه", "۲۰ درجه", 20, None),
        ("zh", "零下5度", "零下5度", -5, None),
        ("zh", "摄氏18度", "摄氏18度", 18, "C"),
        ("ja", "20度にして", "20度", 20, None),
    ],
)
def test_amount_and_unit_are_found(language, text, said, amount, unit):
    assert found(TemperatureFinder(), text, language) == {said: {"amount": amount, "unit": unit}}


@pytest.mark.parametrize("text", ["20 c", "21", "degrees", "plan c", "20 cakes"])
def test_other_numbers_are_no_temperatures(text):
    assert found(TemperatureFinder(), text) == {}
