"""Words of messages that do not stand alone: "and tomorrow?", "the other one", "no, the red one".

The tables were compiled for this project from general knowledge of how people write; they are copied from no list.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from intentmatch.text.normalize import base_language, fold
from intentmatch.text.stop_words import STOP_WORDS

_OPENINGS = {
    "ar": "و، وماذا عن، ماذا عن، لا، أو، أقصد، بل، ليس",
    "de": """
        und, und was ist mit, was ist mit, wie ist es, wie sieht es, wie siehts, wie sieht's, wie wäre es, nein, nee,
        nicht, oder, dann, ich meine, ich meinte, lieber, doch lieber, aber, mach, sondern""",
    "en": """
        and, and what about, what about, how about, and how about, no, nope, not, or, then, i mean, i meant, make it,
        make that, but, rather, sorry i meant, actually, or rather""",
    "es": """
        y, e, y qué hay de, qué hay de, qué tal, y qué tal, no, o, u, entonces, quiero decir, quería decir, mejor,
        pero, que sea, que sean, más bien""",
    "fr": """
        et, et pour, et qu'en est-il, qu'en est-il, non, pas, ou, alors, je veux dire, je voulais dire, plutôt, mais,
        mettez, et si""",
    "hi": "और, नहीं, या, तो, मेरा मतलब, लेकिन",
    "it": """
        e, ed, e che ne dici di, che ne dici di, e per, no, non, o, oppure, allora, intendevo, volevo dire, piuttosto,
        ma, meglio, facciamo""",
    "ja": "じゃあ, じゃ, では, それでは, いや, いいえ, いえ, または, それとも, そうじゃなくて",
    "ko": "그럼, 그러면, 그리고, 아니, 아니요, 또는, 아니면, 제 말은",
    "nl": """
        en, en hoe zit het met, hoe zit het met, wat dacht je van, nee, niet, of, dan, ik bedoel, ik bedoelde, liever,
        maar, maak er, doe maar""",
    "pl": "a, i, a co z, co z, nie, albo, lub, to, mam na myśli, miałem na myśli, miałam na myśli, raczej, ale, jednak",
    "pt": "e, e quanto a, e que tal, que tal, não, ou, então, quero dizer, queria dizer, melhor, mas, e para",
    "ru": """
        а, и, а как насчет, как насчет, а что насчет, нет, не, или, тогда, я имею в виду, я имел в виду, я имела в
        виду, лучше, но, то есть""",
    "tr": "peki, peki ya, ya, ve, hayır, yok, değil, veya, ya da, o zaman, yani, ama, bari",
    "zh": "那, 那么, 不, 不是, 不对, 或者, 还是, 我是说, 我的意思是, 改成, 换成, 要不",
}

_STAND_INS = {
    "ar": "الآخر، الأخرى، هذا، هذه، نفسه، نفسها، أيضا، واحد آخر، بدلا من ذلك، الثاني، الثانية",
    "de": """
        der andere, die andere, das andere, den anderen, andere, anderer, anderes, noch eins, noch einer, noch eine,
        nochmal, noch mal, dieser, diese, dieses, diesen, dasselbe, das gleiche, dieselbe, auch, etwas anderes,
        stattdessen, der zweite, die zweite, das zweite, der zweiten, das, davon""",
    "en": """
        the other one, the other, other, others, another one, another, one, ones, this one, that one, this, that, it,
        the same, same, again, too, also, as well, instead, something else, someone else, the second one, second, the
        first one, first, the last one, them, those, these""",
    "es": """
        el otro, la otra, los otros, las otras, otro, otra, otra vez, otra más, otro más, este, esta, esto, ese, esa,
        eso, lo mismo, el mismo, la misma, también, otra cosa, en su lugar, el segundo, la segunda""",
    "fr": """
        l'autre, les autres, autre, autres, un autre, une autre, encore un, encore une, celui, celle, celui-ci, celle-
        ci, celui-là, celle-là, ça, cela, la même chose, le même, la même, aussi, encore, autre chose, à la place, le
        deuxième, la deuxième, le second, la seconde""",
    "hi": "दूसरा, दूसरी, दूसरे, यह, ये, वह, वो, वही, यही, भी, कुछ और, एक और, फिर से, इसके बजाय",
    "it": """
        l'altro, l'altra, gli altri, le altre, altro, altra, un altro, un'altra, questo, questa, quello, quella, lo
        stesso, la stessa, anche, qualcos'altro, invece, il secondo, la seconda, di nuovo""",
    "ja": "もう一つ, もうひとつ, 他の, ほかの, 別の, これ, それ, あれ, この, その, 同じ, 同じの, 違うの, 二つ目",
    "ko": "다른 것, 다른 거, 다른, 이것, 이거, 그것, 그거, 저것, 저거, 같은 것, 같은 거, 하나 더, 두 번째",
    "nl": """
        de andere, het andere, andere, ander, nog een, nog eentje, deze, dit, die, dat, dezelfde, hetzelfde, ook, iets
        anders, in plaats daarvan, de tweede, nog eens""",
    "pl": """
        inny, inna, inne, drugi, druga, drugie, ten, ta, to, tamten, tamta, tamto, jeszcze jeden, jeszcze jedna,
        jeszcze raz, ten sam, ta sama, to samo, też, także, coś innego, zamiast tego""",
    "pt": """
        o outro, a outra, os outros, as outras, outro, outra, mais um, mais uma, este, esta, isto, esse, essa, isso, o
        mesmo, a mesma, também, outra coisa, em vez disso, o segundo, a segunda, de novo""",
    "ru": """
        другой, другая, другое, другие, другую, еще один, еще одну, еще одно, этот, эта, это, эту, тот, та, ту, то же,
        тот же, ту же, тоже, также, что-то другое, вместо этого, второй, вторая, вторую, еще раз""",
    "tr": """
        diğeri, diğer, öteki, öbürü, başka, başkası, başka bir şey, bir tane daha, bir daha, bu, bunu, şu, o, aynısı,
        aynı, ikincisi, birincisi, yerine""",
    "zh": """
        另一个,另外一个, 另外那个, 别的, 其他的, 其他, 这个, 那个, 这家, 那家, 那张, 一样的, 同样的, 也, 再来一个,
        换一个, 第二个, 第一个""",
}


_FILLERS = {
    "ar": "في, إلى, على, من",
    "de": "meine ich, wie ist es, aus, es, draus, in, nach, um, an, auf, für, gegen",
    "en": "else, please, i mean, in, on, at, to, for, from, by, with",
    "es": "qué tal, quiero decir, por favor, a, en, para, de, las, los",
    "fr": "je veux dire, plutôt, s'il vous plaît, à, a, en, chez, pour",
    "hi": "में, को, पर",
    "it": "intendo, per favore, a, in, su, per, alle",
    "ja": "も, 方",
    "ko": "도, 말고, 에, 에서",
    "nl": "bedoel ik, van, in, op, om, naar",
    "pl": "na, w, do, o",
    "pt": "em, no, na, para, a, às",
    "ru": "в, на, к, с",
    "tr": "da, de, olan, olsun, nasıl, tekrar, demek istedim, lütfen, günü, için, kişi",
    "zh": "怎么样, 呢, 吧, 吗, 是, 还是",
}
"""Words that say nothing beside the others: "please", "I mean", prepositions."""

_UNSPACED = frozenset({"ja", "zh"})


class FollowUpWords(NamedTuple):
    """Folded phrases of one language, the longest first."""

    openings: tuple[str, ...]
    """What such a message begins with: "and", "what about"."""
    stand_ins: tuple[str, ...]
    """What stands for something said before: "the other one", "too"."""
    fillers: tuple[str, ...]
    """What says nothing: "please", and stop words."""
    every: tuple[str, ...]
    """All of them."""
    spaced: bool
    """Whether the language puts spaces between words."""

    def opening_of(self, text: str) -> str | None:
        """Return the opening that a folded text begins with."""
        end = " " if self.spaced else ""
        # With a space behind both, so that "no" does not open "nothing".
        return next((each for each in self.openings if f"{text}{end}".startswith(each + end)), None)

    def stand_in_of(self, text: str) -> str | None:
        """Return a stand-in of a folded text."""
        around = " " if self.spaced else ""
        padded = f"{around}{text}{around}"
        return next((each for each in self.stand_ins if f"{around}{each}{around}" in padded), None)

    def content_of(self, text: str) -> str:
        """Return a folded text without openings, stand-ins and fillers."""
        around = " " if self.spaced else ""
        # Two spaces between words, so that neighbouring phrases are both found.
        left = f" {text.replace(' ', '  ')} " if self.spaced else text
        # The longest first, or "the other" would leave "one" of "the other one".
        for phrase in self.every:
            left = left.replace(f"{around}{phrase.replace(' ', '  ')}{around}", around * 2)
        return " ".join(left.split())


@lru_cache(maxsize=64)
def follow_up_words(language: str | None) -> FollowUpWords | None:
    """Return the phrases of a language, given as BCP-47 code; None for one that the tables lack."""
    code = base_language(language or "")
    if code not in _OPENINGS:
        return None
    openings, stand_ins = _phrases(_OPENINGS[code]), _phrases(_STAND_INS[code])
    fillers = [*_phrases(_FILLERS.get(code, "")), *STOP_WORDS.get(code, ())]
    return FollowUpWords(
        _longest_first(openings),
        _longest_first(stand_ins),
        _longest_first(fillers),
        _longest_first([*openings, *stand_ins, *fillers]),
        spaced=code not in _UNSPACED,
    )


def _longest_first(phrases: list[str]) -> tuple[str, ...]:
    return tuple(sorted({*phrases}, key=lambda each: (-len(each), each)))


def _phrases(words: str) -> list[str]:
    return [key for phrase in words.replace("،", ",").split(",") if (key := fold(phrase))]
