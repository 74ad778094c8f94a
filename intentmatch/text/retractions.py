"""Phrases that take a request back, by language, for `intentmatch.text.refusals`."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.text.refusal_rules import LETTER, head

_COURTESY = "please just bitte por favor plaît svp favore alsjeblieft proszę prosím snälla bare пожалуйста ласка моля"


def _at_head(phrase: str) -> str:
    """Return the pattern of a place at the head of a clause; to look for the phrase first takes less time."""
    return rf"(?<!{LETTER})(?={phrase}){head(_COURTESY)}"


def _first(phrase: str) -> tuple[str, str]:
    """Return the pattern of a phrase at the head of a clause; nothing stands there without it."""
    # "Forget not to call" takes nothing back.
    return rf"{_at_head(phrase)}(?:{phrase})(?: |(?<=['’]))(?!(?:not|nicht|niet|inte|ikke|pas)\b)(?=\w)", ""


_FORGET_CZECH_AND_SLOVAK = (
    r"(?:zapome(?:ň|ňte)|zabudni(?:te)?)(?: prosím)?(?: na)?"
    r"|vykašlete se na|ignoruj(?:te)?|ber(?:u|iem) (?:zpět|späť)|stahuji(?= žádost)"
    r"|(?:nikdy )?(?:(?:jsem|som) )?(?:nikdy )?"
    r"ne(?:žádal|žiadal|řekl|říkal|povedal|chtěl|chcel)[ai]?(?: jsem| som)?, (?:aby|že)"
)
_FORGET_DANISH_AND_NORWEGIAN = (
    r"glem|dropp|se bort fra|ignorer|jeg træk?k?er (?:min|mitt) (?:anmodning|forespørsel) om(?: å| at)?"
)


_AROUND: Mapping[str, tuple[str, str]] = {
    "ar": ("اتركوا?|خل(?:ي|وا)?", "كما (?:هو|هي)|وشأنه"),
    "bg": ("остав(?:и|ете)", "на мира|както (?:е|си е)"),
    "ca": ("deix(?:a|eu)", "en pau|com està|tal com està"),
    "cs": ("nech(?:te)?", "na pokoji|být|jak (?:je|jsou)|beze změny"),
    "da": ("lad", "være|i fred|som (?:den|det) er"),
    "de": (
        "lass(?:t|en sie)?|behaltet|(?:ich|wir) (?:nehmen?|ziehen?)(?! \\S+ \\S*bestellung)",
        "(?:sein|bleiben|in ruhe|in frieden|so,? wie (?:es|sie|er) ist|wie (?:es|sie|er) ist|unverändert|zurück)",
    ),
    "el": ("άσ(?:ε|τε)|αφήστε", "ήσυχ[οηα]|όπως (?:είναι|έχει)"),
    "en": ("leave|keep", "alone|as (?:it|they) (?:is|are)|unchanged|the way (?:it is|they are)"),
    "es": ("dej(?:a|en|e|ad)", "en paz|(?:tal )?como est[áa]n?|tal cual|igual|quiet[oa]s?"),
    "fi": ("jät(?:ä|täkää)|anta(?:kaa)?", "rauhaan|ennalleen|olla|huomiotta"),
    "fr": ("laisse[zs]?|gardez?", "tranquilles?|tel(?:le)?s? quel(?:le)?s?|comme (?:ça|elle est|il est)|en paix"),
    "he": (r"תשאיר\w*", r"כמו ש\w+|בשקט"),
    "hu": ("hagy(?:d|ják|játok)", "békén|úgy,? ahogy van"),
    "id": ("biarkan", "seperti (?:itu|semula)|apa adanya"),
    "it": ("lascia(?:te)?", "stare|perdere|in pace|così(?: com['’]è)?|com['’]è"),
    "nb": ("la", "være|i fred|som (?:den|det) er"),
    "nl": ("laat", "(?:maar )?(?:zitten|achterwege)|met rust|zoals (?:het|hij|ze) is"),
    "pl": ("zostaw(?:cie)?", "w spokoju|bez zmian|(?:tak,? )?jak (?:jest|są)"),
    "pt": ("deix(?:a|e|em)", "em paz|como est[áa]o?|pra lá|para lá|quiet[oa]"),
    "ro": ("las[ăa](?:ți|ti)?|lăsați", "în pace|(?:așa )?cum (?:e|este)|baltă"),
    "ru": ("оставь(?:те)?", "в покое|как есть|без изменений|прежн[ие]\\w+"),
    "sk": ("nechaj(?:te)?", "na pokoji|tak,? ako (?:je|sú)|bez zmeny"),
    "sv": ("låt|lämna|behåll", "vara|i ?fred|som (?:den|det) är"),
    "uk": ("залиш(?:те|іть)?", "у спокої|в спокої|як є|без змін"),
}
"""By language: what begins and what ends a clause that leaves everything as it is: "leave my account alone"."""


def _around(begin: str, end: str) -> tuple[str, str]:
    return rf"{_at_head(begin)}(?:{begin}) (.+?) (?:{end})(?!{LETTER})", r"\1"


RETRACTIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    language: (_first(phrase), *([_around(*_AROUND[language])] if language in _AROUND else []))
    for language, phrase in {
        "ar": r"تراجعت عن|أتراجع عن|أسحب(?= طلب)|انسَ?|انس[ىِ]|انسوا|تجاهلوا?|دعكم? من|بلاش",
        "bg": r"игнорирай(?:те)?|оттеглям|забрав(?:и|ете)(?: за)?|(?:никога )?не съм (?:казвал|искал)а?,(?: че| да)?",
        "ca": r"ignor(?:a|eu)|retiro la sol·licitud d(?:e|')|oblid(?:a|eu)(?: de)?|oblida't de|deixa(?:'t|u)? estar",
        "cs": _FORGET_CZECH_AND_SLOVAK,
        "da": _FORGET_DANISH_AND_NORWEGIAN,
        "de": r"ignorier(?:e|t|en sie)|verg(?:iss|esst|essen sie)(?: das mit)?|streich(?:t|en sie)?"
        r"|ich habe? (?:das )?(?:nie(?:mals)?|nicht) (?:gesagt|verlangt|gewollt|(?:darum )?gebeten),(?: dass?)?",
        "el": r"αγνοήστε|αγνόησε|αποσύρω|ξέχνα|ξεχάστε|ξέχασε",
        "en": r"(?:forget|scrap|scratch|disregard|ignore)"
        r"(?: about)?(?= (?:the|my|that|this|our|what|about)\b)"
        r"|(?:I|we) retract",
        "es": (
            "ignor(?:a|en|ad)|haced? caso omiso (?:a|de)|retiro (?:mi|la) (?:solicitud|petición) de|me retracto de"
            "|olv[ií]da(?:d|te de|os de)?|olv[ií]den|olv[ií]d(?:ese|ense) de|ni hablar de"
        ),
        "fi": (
            "jättäkää huomiotta|unohdetaan|uno(?:hda|htakaa)(?: se)?|antaa olla|en (?:ole )?(?:koskaan "
            "|ikinä )?(?:pyytänyt|sanonut), että"
        ),
        "fr": (
            "ignore[zs]|ne tenez (?:pas|plus) compte (?:de|d['’])|je retire ma demande (?:de|d['’])|on oublie"
            "|oubli(?:ez|ons|e(?! m[aeo]))(?: pour)?|laisse[zs]? tomber|pas question (?:de|d['’])"
        ),
        "he": r"תתעלמו|התעלמו|חזרתי בי|תשכחו?|תשכחי|עזוב את|עזבו את",
        "hu": (
            "visszavonom(?: a)?|hagyják figyelmen kívül(?: a)?|ne vegyék figyelembe(?: a)?|felejts(?:d|e|ék"
            "|ük)(?: el)?|hagyjuk(?: a)?|(?:soha|sosem|sose|nem) (?:kértem|mondtam|akartam), hogy"
        ),
        "id": r"saya tarik(?: kembali)?|tarik kembali|(?:lupakan|abaikan)(?: saja)?(?: soal| tentang)?",
        "it": (
            "ignora(?:te)?|non tenete conto (?:di|del|della|dell['’])|ritiro la richiesta di|scordatevi"
            "|dimentica(?:te|mo)?|lascia(?:te|mo)? (?:perdere|stare)|non se ne parla di"
        ),
        "nb": _FORGET_DANISH_AND_NORWEGIAN,
        "nl": (
            "negeer|ik trek (?:mijn|de|het) (?:verzoek|aanvraag) (?:tot|om|voor)|vergeet(?: maar)?|streep maar door"
            "|(?:zet|haal) (?:maar )?een streep door"
        ),
        "pl": (
            "zignoruj(?:cie)?|proszę zignorować|wycofuję(?: prośbę o)?|cofam(?: prośbę o)?|zapomnij(?:cie)?(?: o)?"
            r"|daj(?:cie)? spokój z|(?:nigdy )?nie (?:mówił|prosił|chciał)\w*, (?:żeby|że)"
        ),
        "pt": (
            "ignor(?:a|e|em)|desconsider(?:a|e|em)|retiro o pedido de|deixa quieto|esque[çc](?:e|a"
            "|am)(?: d[aeo]s?)?|deix[ae]m? (?:pra|para) lá|nem pensar em"
        ),
        "ro": (
            r"ignor(?:ă|ați)|retrag(?: cererea de)?|renunț(?:ați)? la(?= \w+(?:rea|ția)\b)|uita(?:ți|ti)? de|uită de"
            r"|(?:las[ăa](?:ți|ti)?(?: balt[ăa])?|f[ăa]r[ăa])(?= \w+(?:area|irea|erea|ția)\b)"
        ),
        "ru": (
            "(?:про)?игнорируйте|не учитывайте|отзываю(?: просьбу об?| заявку на)?|забудь(?:те)?(?: про| об?)?"
            "|(?:я )?(?:никогда )?не (?:просил|говорил|хотел)[аи]?, (?:чтобы|что)"
        ),
        "sk": _FORGET_CZECH_AND_SLOVAK,
        "sv": (
            "ignorera|bortse från|jag tar tillbaka(?: min begäran om)?|glöm(?: bort)?(?: det där med)?|strunta i|skippa"
        ),
        "uk": (
            "(?:про)?ігноруйте|не враховуйте|відкликаю|забудь(?:те)?(?: про)?|(?:я )?(?:ніколи )?не (?:просив"
            "|просила|казав|казала|хотів|хотіла), (?:щоб|що)"
        ),
        "vi": (
            "(?:(?:tôi|mình|em) )?rút lại(?: yêu cầu)?|bỏ qua(?: yêu cầu)|(?:quên|bỏ qua|bỏ) (?:chuyện|việc|vụ)"
            "|thôi khỏi"
        ),
    }.items()
}
"""By language: the pattern of a phrase at the head of a clause that takes a request back: "forget the cancellation".

The text is read without it as a whole, as what comes behind may tell which request: "scrap that, I want my order".
"""
