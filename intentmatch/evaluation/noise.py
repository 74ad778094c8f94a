"""Generate messages that mean nothing, for measuring how many of them a bot accepts."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

from intentmatch.core.errors import InputError
from intentmatch.text.stop_words import stop_words

ALPHABETS: Mapping[str, str] = {
    "Latin": "abcdefghijklmnopqrstuvwxyz",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "Arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "Hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
    "Devanagari": "अआइईउऊएऐओऔकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसह",
    "Hiragana": "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわん",
    "Han": "".join(map(chr, range(0x4E00, 0x9FA6))),
    "Hangul": "".join(map(chr, range(0xAC00, 0xD7A4))),
}
"""Letters by script, from which random letters are drawn."""

_TRIES = 20
"""Draws for each message wanted, before a kind with few different messages is exhausted."""

_UNSPACED = frozenset({"Han", "Hiragana"})
_SYLLABLES: Mapping[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {
    "Latin": (
        [*"bcdfghjklmnprstvwz", "ch", "sh", "st", "tr", "pl", "gr"],
        [*"aeiou", "ai", "ou"],
        ["", "", *"nrslmtk"],
    ),
    "Cyrillic": ([*"бвгджзклмнпрстфхцчш", "ст", "тр", "пл"], [*"аеиоуыюя"], ["", "", *"нрслмтк"]),
    "Greek": ([*"βγδζθκλμνπρστφχψ", "στ", "τρ"], [*"αεηιου", "ου"], ["", "", *"νρσς"]),
}
# QWERTY, the rows in which QWERTZ and AZERTY differ from it, and Russian and Arabic keyboards.
_ROWS = (
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiop",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "йцукенгшщзхъ",
    "фывапролджэ",
    "ячсмитьбю",
    "ضصثقفغعهخحج",
    "شسيبلاتنمك",
)
_MARKS = "?!.,;:-_*#/\\|~()[]{}<>=+&%$@'\"…。？！、"
_EMOJI = "😀😂😍😎😭😡🤔🙄👀💀🔥🎉❤🌸🍕⚽🚗🐶🦄🌍💩🫠🥳🤷"
_TAGS = ("div", "p", "span", "b", "li", "td", "h1", "a", "script", "br")
_NAMES = ("x", "i", "foo", "tmp", "val", "node", "res", "arr", "obj", "cfg")
_CODE = (
    "<{tag}></{tag}>",
    '<{tag} class="{a}">{b}</{tag}>',
    "<{tag}><{tag2}>{n}</{tag2}></{tag}>",
    "<script>alert({n})</script>",
    "for (int {a} = 0; {a} < {n}; {a}++) {{ {b} += {a}; }}",
    "if ({a} == {n}) {{ return {b}[{a}]; }}",
    "def {a}({b}): return {b} + {n}",
    "const {a} = ({b}) => {b}.map(x => x * {n});",
    '{{"{a}": {n}, "{b}": [{n}, null]}}',
    "SELECT * FROM {a} WHERE {b} = {n};",
    "<?php echo ${a}; ?>",
    "#include <{a}.h>",
    ".{a} {{ margin: {n}px; }}",
    "{{{{ {a}.{b} }}}}",
)


def noise_messages(
    kind: str, count: int, *, seed: int = 0, script: str = "Latin", languages: Collection[str] = ()
) -> tuple[str, ...]:
    """Return distinct random messages of one kind of `NOISE`; the same arguments give the same messages.

    `script`, one of `ALPHABETS`, is the script of random letters; for syllables it is Latin, Cyrillic or Greek. Stop
    words are those of the `languages`, or of all that have a list. Other kinds ignore both. Kinds with few different
    messages (stop words, emoji) may return fewer than `count`.

    Raises `InputError` for an unknown kind or a script that the kind lacks.
    """
    if kind not in NOISE:
        raise InputError(f"unknown kind of noise {kind!r}: known are {', '.join(NOISE)}")
    if script not in (_SYLLABLES if kind == "syllables" else ALPHABETS):
        raise InputError(f"no {kind} in the script {script!r}")
    # A generator of its own for each kind: more messages of one leave the others as they were.
    random = Random(f"{kind} {script} {seed}")  # noqa: S311 - no secret depends on it
    found: dict[str, None] = {}
    choice = _Choice(script, sorted(stop_words(languages)))
    for _ in range(_TRIES * count):
        if len(found) == count:
            break
        found.setdefault(NOISE[kind](random, choice))
    return tuple(found)


class _Choice(NamedTuple):
    """What random messages are drawn from."""

    script: str
    stop_words: Sequence[str]


def _letters(random: Random, choice: _Choice) -> str:
    alphabet = ALPHABETS[choice.script]
    # A character of Han or Hangul is a syllable or a word.
    least, most = (2, 5) if len(alphabet) > 100 else (3, 9)
    words = ["".join(random.choices(alphabet, k=random.randint(least, most))) for _ in range(random.randint(1, 4))]
    return ("" if choice.script in _UNSPACED else " ").join(words)


def _syllables(random: Random, choice: _Choice) -> str:
    onsets, vowels, codas = _SYLLABLES[choice.script]

    def word() -> str:
        parts = range(random.randint(2, 4))
        return "".join(random.choice(onsets) + random.choice(vowels) + random.choice(codas) for _ in parts)

    return " ".join(word() for _ in range(random.randint(1, 4)))


def _marks(random: Random, choice: _Choice) -> str:
    if random.random() < 0.5:
        return random.choice(_MARKS) * random.randint(1, 8)
    return "".join(random.choices(_MARKS, k=random.randint(2, 10)))


def _stop_word(random: Random, choice: _Choice) -> str:
    return random.choice(choice.stop_words)


def _emoji(random: Random, choice: _Choice) -> str:
    return random.choice(_EMOJI) * random.choice((1, 1, 2, 3))


def _keyboard(random: Random, choice: _Choice) -> str:
    """Neighbouring keys of a row, forwards or backwards, once or several times."""

    def run() -> str:
        row = random.choice(_ROWS)
        length = random.randint(4, len(row))
        start = random.randint(0, len(row) - length)
        keys = row[start : start + length]
        return keys if random.random() < 0.8 else keys[::-1]

    once = run()
    return random.choice((once, once, once * 2, f"{once} {once}", f"{once} {run()}", once + run()))


def _base64(random: Random, choice: _Choice) -> str:
    return base64.b64encode(random.randbytes(random.randint(12, 60))).decode("ascii")


def _markup(random: Random, choice: _Choice) -> str:
    tag, tag2 = random.sample(_TAGS, 2)
    a, b = random.sample(_NAMES, 2)
    return random.choice(_CODE).format(tag=tag, tag2=tag2, a=a, b=b, n=random.randint(0, 999))


def _repeated(random: Random, choice: _Choice) -> str:
    """One letter, or two or three in turn, many times."""
    alphabet = ALPHABETS["Latin"]
    if random.random() < 0.5:
        return random.choice(alphabet) * random.randint(4, 20)
    unit = "".join(random.sample(alphabet, random.randint(2, 3)))
    return unit * random.randint(4, 8)


NOISE: Mapping[str, Callable[[Random, _Choice], str]] = {
    "letters": _letters,
    "syllables": _syllables,
    "marks": _marks,
    "stop word": _stop_word,
    "emoji": _emoji,
    "keyboard": _keyboard,
    "base64": _base64,
    "markup": _markup,
    "repeated": _repeated,
}
"""Kinds of noise by name, each with the function that draws a message."""
