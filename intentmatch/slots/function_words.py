"""Words that are no free text on their own: articles, prepositions, pronouns, auxiliary verbs, polite words.

`text.stop_words` holds words that say nothing as a whole message. Free text has a stricter rule, so this table adds
words that may be a message ("on", "is", "me") but are not the value of a slot without other words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from intentmatch.text.normalize import bare, base_language
from intentmatch.text.stop_words import stop_words

_MORE = {
    "ar": "أود أحتاج لي هل أريد ممكن من فضلك لو سمحت هذا هذه هو هي أنا",
    "de": "hätte gern gerne brauche ich du er sie es wir ihr mich mir dich dir uns mein meine meinen dein ist sind "
    "war habe hat haben kann könnte können möchte will bitte an auf aus ab bis noch mal auch nicht dann so da "
    "etwa circa",
    "en": "like want need let a i you he she it we they me him her us them my your his our their is am are was do "
    "does did have has can could would will shall may please on off up out into onto about this that these "
    "those so too also some any not then",
    "es": "necesito gustaría querría o y yo tú usted me te nos mi mis tu es son está hay puede puedo podría quiero "
    "quisiera favor hasta desde sobre este esta eso no si sí también lo",
    "fa": "خواهم لازم دارم من تو او ما شما لطفا لطفاً می خواهم میخواهم این آن است هست برای یه",
    "fr": "veux besoin aimerais je tu il elle nous vous ils elles me te se mon ma mes ton ta tes est sont suis ai a "
    "à veux voudrais peux pouvez plaît plait s'il svp y vers chez sous jusque pas ne aussi d' l' qu'",
    "it": "voglio serve bisogno io tu lui lei noi voi loro mi ti ci vi lo la mio mia è sono sei ho ha hai vorrei "
    "posso puoi può favore e o su in a ad da non anche questo questa",
    "ja": "です ます ください お願い だ ね よ か",
    "nl": "nodig ik jij je u hij zij wij we me mij mijn jouw is zijn heb heeft kan kunt wil graag alsjeblieft "
    "alstublieft in op uit aan af dan die dat deze dit ook niet er",
    "pl": "potrzebuję chcielibyśmy i a w z na u o ja ty on ona my wy mnie mi mój moja jest są mam ma mogę chcę "
    "chciałbym chciałabym proszę to ten ta nie też za od i lub czy jak",
    "pt": "preciso queremos e o a os as em eu você ele ela nós me te meu minha é são está tenho tem posso pode "
    "quero queria gostaria favor não também este esta até desde sobre",
    "ru": "хотел хотела бы нужно надо мне и а в с к о у на я ты он она мы вы меня мне мой моя есть был хочу можно "
    "могу пожалуйста не это этот эта",
    "tr": "isterdim lazım ben sen o biz siz bana beni bu şu mi mı mu mü var lütfen istiyorum isterim de da değil",
    "zh": "我 你 您 他 她 它 请 吧 吗 呢 在 是 有 要 想 这 那 到 给",
}
"""Function words by language, beside those of `text.stop_words`."""

_POLITE = {
    "ar": "من فضلك|لو سمحت|رجاء",
    "de": "bitte|danke",
    "en": "please|pls|plz|thanks|thank you",
    "es": "por favor|gracias",
    "fa": "لطفا|ممنون",
    "fr": "s'il vous plaît|s'il te plaît|svp|stp|merci",
    "it": "per favore|per piacere|grazie",
    "ja": "お願いします|ください|下さい",
    "nl": "alsjeblieft|alstublieft|aub|bedankt",
    "pl": "proszę|dzięki",
    "pt": "por favor|obrigado|obrigada",
    "ru": "пожалуйста|спасибо",
    "tr": "lütfen|teşekkürler",
    "zh": "谢谢|好吗",
}
"""Phrases that may end a request and are no part of free text, by language; bars separate them."""

_ELISIONS = {
    "fr": "d=de l=le=la qu=que j=je n=ne s=se m=me t=te c=ce",
    "it": "d=di l=il=la un=una dell=della=del all=alla=al nell=nella=nel dall=dalla=dal sull=sulla=sul c=ci",
}
"""Words that lose their last letter before an apostrophe, with the whole words."""
_LEADING = {
    "ar": "إلى أن",
    "de": "zu nach an für dass",
    "en": "to for at that",
    "es": "a para que en",
    "fa": "به برای که",
    "fr": "à au pour que",
    "it": "a per che",
    "nl": "naar aan voor dat om",
    "pl": "na do że",
    "pt": "para que em a",
    "ru": "на в по что",
}
"""Words that may begin an answer ("to 12 Baker Street") and are no part of free text, by language."""
_PARTICLES = "in on up off out an auf aus ab zu over along around back away through down uit op aan af"
"""Words that belong to the verb before them if no value follows ("log in tomorrow")."""


@lru_cache(maxsize=64)
def function_words(language: str | None) -> frozenset[str]:
    """Return the function words of a language and of English, in bare form."""
    codes = {"en", base_language(language)} if language else {"en"}
    more = (word for code in codes for word in _MORE.get(code, "").split())
    return frozenset(part for word in (*stop_words(codes), *more) for part in bare(word).split())


@lru_cache(maxsize=64)
def polite_phrases(language: str | None) -> tuple[str, ...]:
    """Return phrases that may end a request in a language or in English, in bare form, the longest first."""
    codes = ("en", base_language(language)) if language else ("en",)
    phrases = {bare(phrase) for code in codes for phrase in _POLITE.get(code, "").split("|")} - {""}
    return tuple(sorted(phrases, key=len, reverse=True))


@lru_cache(maxsize=64)
def leading_words(language: str | None) -> frozenset[str]:
    """Return words that may begin an answer in a language or in English, in bare form."""
    codes = {"en", base_language(language)} if language else {"en"}
    return frozenset(bare(word) for code in codes for word in _LEADING.get(code, "").split())


@lru_cache(maxsize=1)
def particles() -> frozenset[str]:
    """Return function words that may belong to the verb before them, in bare form."""
    return frozenset(map(bare, _PARTICLES.split()))


@lru_cache(maxsize=64)
def elisions(language: str | None) -> Mapping[str, tuple[str, ...]]:
    """Return words before an apostrophe with the whole words they stand for, in bare form."""
    pairs = (pair.split("=") for pair in _ELISIONS.get(base_language(language) if language else "", "").split())
    return {short: tuple(words) for short, *words in pairs}
