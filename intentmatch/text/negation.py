"""Put a request into the negative, by language: "cancel my order" gives "please don't cancel my order"."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from intentmatch.text.normalize import language_range
from intentmatch.text.refusals import refusal
from intentmatch.text.rewriting import Rules, compiled, rewritten

# By language: patterns of a request and its negative. The first that matches counts.
_NEGATIVES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ar": ((r"(?<!\w)(أريد|اريد|أرغب|أود|أحتاج)(?!\w)", r"لا \1"),),
    "cs": ((r"\bchci\b", "nechci"), (r"\b(chtěl\w* bych)\b", r"ne\1")),
    "da": ((r"\b(jeg vil gerne|jeg vil|jeg ønsker)\b", r"\1 ikke"),),
    "de": (
        (r"^(ich (?:möchte|will|würde gerne?|wollte))\b(.*?)( \w+(?:en|ern|eln)[.!]?)$", r"\1\2 nicht\3"),
        (r"^(bitte)(.*?)( \w+(?:en|ern|eln)[.!]?)$", r"\1\2 nicht\3"),
    ),
    "el": ((r"(?<!\w)(θέλω|θα ήθελα)(?!\w)", r"δεν \1"),),
    "en": (
        (r"\b(I) (?:really )?(want|need|wanna) ", r"\1 don't \2 "),
        (r"\b(I) ?(?:['’]d| would) (?:really )?like ", r"\1 wouldn't like "),
        (r"^(?:can|could|would|will) you (?:please )?(?=\w)", "please don't "),
        (
            r"^(?:please )?(?=(?:add|adjust|arrange|block|book|buy|call|cancel|change|charge|check|clear|close|connect|"
            r"create|deactivate|delete|disable|email|enable|erase|exchange|find|forward|freeze|get|give|help|install|"
            r"let|lock|lower|mail|make|mark|mute|open|order|pause|pay|play|put|read|refund|register|remind|remove|"
            r"renew|reorder|repeat|replace|report|reschedule|reserve|reset|resume|return|save|schedule|send|set|ship|"
            r"show|shut|skip|start|stop|submit|subscribe|swap|switch|take|tell|track|transfer|translate|turn|"
            r"unsubscribe|update|upgrade|withdraw)\b)",
            "please don't ",
        ),
    ),
    "es": ((r"(?<!\w)(quiero|quisiera|necesito|deseo|me gustaría)\b", r"no \1"),),
    "fa": ((r"(?<!\w)(می(?:\u200c| )?خواه(?:م|یم))(?!\w)", r"ن\1"),),
    "fi": ((r"\bhaluan\b", "en halua"), (r"\bhaluaisin\b", "en haluaisi")),
    "fr": (
        (r"\bje (veux|voudrais|souhaite|désire)\b", r"je ne \1 pas"),
        (r"\bj['’]aimerais\b", "je n'aimerais pas"),
    ),
    "he": ((r"(?<!\w)(אני רוצה|אני מעוניין|אני מעוניינת)(?!\w)", r"\1 לא"),),
    "hi": (
        (r"(?<!\w)(करना|करनी|कराना|बनाना|बदलना|देखना|लेना|भेजना) है", r"नहीं \1 है"),
        (r" (कर|भेज|बता|दे) (दो|दीजिए|दें|दे)$", r" मत \1 \2"),
    ),
    "hu": ((r"\b(szeretném|szeretnék|akarom|akarok)\b", r"nem \1"),),
    "id": ((r"\b(mau|ingin)\b", r"tidak \1"), (r"^(?:tolong|mohon|harap) ", "tolong jangan ")),
    "it": ((r"\b(voglio|vorrei|desidero)\b", r"non \1"),),
    "ja": (
        (r"したい(?:です|のですが|んですが)?", "したくないです"),
        (r"してください", "しないでください"),
        (r"(?<=[てで])ほしい", "ほしくない"),
    ),
    "ko": (
        (r"고 싶(?:어요|습니다|어|은데요?)", "고 싶지 않아요"),
        (r"(?:하고 싶어요|해 주세요|해주세요|해 줘|해줘)", "하지 마세요"),
    ),
    "nb": ((r"\b(jeg vil gjerne|jeg vil|jeg ønsker)\b", r"\1 ikke"),),
    "nl": ((r"^(ik (?:wil|zou)(?: graag)?)\b(.*?)( \w+en[.!]?)$", r"\1\2 niet\3"),),
    "pl": (
        (r"\b(chcę|chciał(?:a|)?bym)\b", r"nie \1"),
        (r"\bproszę (?=\w+ć\b)", "proszę nie "),
    ),
    "pt": ((r"\b(quero|queria|gostaria|preciso)\b", r"não \1"),),
    "ro": ((r"\b(vreau|doresc|aș vrea)\b", r"nu \1"),),
    "ru": ((r"(?<!\w)(хочу|хотел бы|хотела бы)(?!\w)", r"не \1"),),
    "sv": ((r"\b(jag (?:vill|skulle vilja|önskar)(?: gärna)?)\b", r"\1 inte"),),
    "tr": ((r"\bistiyorum\b", "istemiyorum"), (r"\b(et|sil|gönder)in(iz)?\b", r"\1meyin\2")),
    "uk": ((r"(?<!\w)(хочу|хотів би|хотіла б)(?!\w)", r"не \1"),),
    "vi": ((r"(?<!\w)(muốn|cần)(?!\w)", r"không \1"), (r"^(?:hãy|xin|vui lòng) ", "xin đừng ")),
    "zh": ((r"我(?:想要|想|要)", "我不想"), (r"^(?:请)?帮我", "请不要帮我"), (r"^请", "请不要")),
}

NEGATABLE = frozenset(_NEGATIVES)
"""Languages in which `negated` can put a request into the negative."""


def negated(text: str, language: str) -> str | None:
    """Put a request into the negative: "cancel my order" gives "please don't cancel my order".

    None if the text is not a request of a form that the rules know.
    """
    known = next((code for code in language_range(language) if code in _NEGATIVES), None)
    # A request that refuses already would become its own opposite.
    if known is None or refusal(text, known) is not None:
        return None
    return rewritten(text, _rules(known))


@cache
def _rules(language: str) -> Rules:
    return compiled(_NEGATIVES[language])
