"""Function words that say nothing on their own: articles, conjunctions and prepositions, by language.

Missing on purpose are words that can be an answer or a request of one word, in their own or in another language of the
table: "no", "is" and "on", "da" and "si", "ya" and "na", "para" (stop!), "car" and "men", pronouns, question words and
single Latin letters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from intentmatch.text.normalize import base_language

STOP_WORDS: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "ar": "و في من إلى على عن أن إن أو ثم مع التي الذي قد لقد عند",
        "cs": "aby že nebo ale když protože při pod nad ze ve ke",
        "da": "og eller fordi det den en et af til med fra ved",
        "de": "der die das den dem des ein eine einen einem einer eines und oder aber denn dass weil wenn als mit von "
        "vom für bei beim durch gegen um nach seit im ins am zum zur unter zwischen",
        "el": "οι τα του τησ των και αλλά να με σε από για στο στη στην στον",
        "en": "the an and or but of to for from with by at in as if than are were be",
        "es": "el la los las un una unos unas pero del al en con por porque su sus de",
        "fa": "و در به از که را با یا تا بر",
        "fi": "tai mutta että kun jos niin kuin",
        "fr": "le la les un une des du de et ou mais donc au aux en dans par pour sur avec cet cette ces sa ses",
        "he": "של את על עם אל כי אם או גם",
        "hi": "का की के में से को पर या कि ने भी तो ही लेकिन",
        "hu": "az egy és vagy hogy mert ha meg",
        "id": "dan atau di ke dari yang untuk dengan pada adalah",
        "it": "il lo la gli le un uno una ed di del della dei delle dal nel con per tra fra che al alla",
        "ja": "の は が を に へ と で も から まで や",
        "ko": "은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 그리고 또는",
        "nl": "de het een en of maar want van voor met bij naar om te als door",
        "no": "og eller fordi det den en et av til med fra ved",
        "pl": "oraz lub albo ale że ze we do od dla po przy się",
        "pt": "os um uma uns umas ou mas de do dos das em nos nas com por ao pelo pela",
        "ro": "și sau dar că de la în pe din pentru un al ale",
        "ru": "во со ко об от из за по для или но чтобы же бы ли",
        "sv": "och eller för att det den en ett av till med från vid",
        "tr": "ve veya ama fakat ile için gibi bir",
        "uk": "із від для або але що за по",
        "vi": "và hoặc nhưng của là cho với trong các những thì mà",
        "zh": "的 了 和 与 或 就 都 而 及 把 也",
    }.items()
}
"""Stop words in lower case by language code."""


def stop_words(languages: Collection[str]) -> frozenset[str]:
    """Return the stop words of some languages, given as BCP-47 codes; of all languages of the table if none is given.

    Languages that the table lacks have no stop words.
    """
    codes = {base_language(code) for code in languages} or STOP_WORDS.keys()
    return frozenset().union(*(STOP_WORDS.get(code, frozenset()) for code in codes))
