"""Negations that may refuse something, by language: for `intentmatch.text.refusals`."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.text.refusal_rules import FINITE_NL

_ASKED_EN = r"(?:(?:never|not)(?: ever)? asked|(?:did not|didn['’]?t)(?: ever)? ask) (?:you )?to"
_REFUSE_EN = r"refus(?:e|ing) to|have no (?:intention|desire|wish|plans?) (?:of|to)"


def _before(negation: str, words: str = r"\w") -> tuple[str, str]:
    """Return the pattern of a negation right before one of some words; nothing stands there without it."""
    return rf"(?<!\w)(?:{negation}) (?=(?:{words}))", ""


def _after(verbs: str, negation: str) -> tuple[str, str]:
    """Return the pattern of a negation at most six words after one of some verbs; without it, the verb stays."""
    return rf"\b({verbs})\b((?: [\w-]+){{0,6}}?) (?:{negation})\b", r"\1\2"


NEGATIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ar": (
        _before("لا داعي|لا حاجة|عدم"),
        _before("لا|لم|لن", "[أا]ريد|[أا]رغب|[أا]ود|[أا]طلب|يجب|ينبغي|ت"),
    ),
    "bg": (_before("не", r"искам|желая|трябва|съм (?:искал|молил)|\w+йте\b"),),
    "ca": (_before("no", r"vull|cal|he demanat|\w+[aei]r\b"),),
    "da": (_after("skal|må|bør|behøver", "ikke"),),
    "de": (
        (r"\b(?:auf keinen fall|unter keinen umständen|keinesfalls|niemals)\b", ""),
        _before("nicht", r"(?:darum )?(?:gebeten|verlangt)\b"),
    ),
    "el": (
        _before("δεν?", r"θ[έε]λω|θα|ζ[ήη]τησα|πρ[έε]πει|χρει[άα]ζεται"),
        _before("μην?"),
    ),
    "en": (
        (r"\b(?:under no circumstances|by no means|on no account|in no case) ", ""),
        (rf"\b(?:(?:I|we) )?(?:(?:am|are|['’]m|['’]re) )?(?:{_REFUSE_EN}|{_ASKED_EN}) ", ""),
        (r"^(?:please )?(?:stop|quit|avoid|refrain from|hold off(?: on)?) (?=\w+ing\b)", ""),
        (r"\b(?:(?:I|we)(?: would|['’]d) )?rather (?:you )?(?:not|did not|didn['’]?t|do not|don['’]?t) ", ""),
        (r"\b(?:let['’]?s|let us) not ", ""),
        (r"\b(?:I|we) (?:do not|don['’]?t) (?:think|believe) (?:that )?(?=(?:I|we) )", ""),
        (r"\b(?:(?:I|we)(?:['’]ll| will) not|(?:I|we) won['’]?t) be (?=\w+ing\b)", ""),
        (r"(?:^|\b(?:I am|I['’]?m|we are|we['’]?re) )not (?=(?:going to |planning to )?\w+ing\b)", ""),
        (r"\b(?:nobody|no[ -]one) (?:should|must|may|shall) ", ""),
        (r"^not? (?=\w+(?: please)?$)", ""),
        # What comes last takes the request back: "cancel my order, no wait, don't", "cancel it? no!"
        (r"(?<=\w)[ ,.;!?…-]+(?:(?:no|wait|actually|oh|but|please)[ ,]+)*(?:don['’]?t|do not)\W*$", ""),
        (r"\? ?(?:no|nope|never)\W*$", ""),
    ),
    "es": (
        _before("en ningún caso|por nada del mundo|bajo ningún concepto|de ninguna manera"),
        _before("no (?:hay que|hace falta|es necesario)(?: que)?"),
        _before(
            "no|nunca|jam[aá]s", r"ped[ií]|quer|quis|dese|pretend|deb(?:e|o|en|ería)\b|\w+[aei]r(?:me|lo|la|se)?\b"
        ),
    ),
    "fa": ((r"(?<!\w)ن(?=می(?:\u200c| )?خوا\w)", ""),),
    "fr": (
        _before("en aucun cas|sous aucun prétexte"),
        (
            r"\bn(?:e |['’] ?)((?:dois|doit|doivent|devez|faut|veu\w+|voul\w+|voudr\w+|souhait\w+)) (?:surtout )?"
            r"(?:pas|jamais)\b",
            r"\1",
        ),
        (r"\bn['’]ai (?:pas|jamais) demandé (?:à |de |d['’])", ""),
        (r"(?:^|(?<=[,.;!?] )|(?<=\bde )|(?<=préfère ))(?:ne )?(?:surtout )?pas (?=\w+(?:er|ir)\b)", ""),
        (r"^(?:surtout )?(\w+(?:e|es|ez)) pas\b", r"\1"),
    ),
    "he": (_before("לא", r"ל\w{3}|רוצ|ביקש|מעוניי"), _before("אל|אין צורך")),
    "hu": (_before("nem", "kell|akar|szeret|kér"), _before("ne|soha ne")),
    "id": (
        _before("(?:tidak|tak|nggak|enggak|gak|ga) (?:usah|perlu)|jangan(?: sampai)?|jgn"),
        _before("tidak|tak|nggak|enggak|gak|ga", "mau|ingin|(?:pernah )?minta|boleh|harus"),
    ),
    "it": (
        _before("in nessun caso|per nessun motivo"),
        _before("non (?:c['’]è bisogno di|serve|occorre|bisogna|ho (?:mai )?chiesto di)"),
        _before("non|mai", r"vogli|vorr|desider|intend|dev(?:e|o|ono)\b|\w+[aei]r(?:e|mi|lo|la|li)\b"),
    ),
    "ja": (("(?:は)?しません", "します"),),
    "ko": (_before("안", "[해하할]"),),
    "nb": (_after("skal|må|bør|trenger", "ikke"),),
    "nl": (
        _before("in geen geval|onder geen beding"),
        _after("mag|mogen|moet|moeten|hoeft|hoeven|liever", "niet|geen"),
        (
            rf"^{FINITE_NL}(.*?)\b(?:niet|nooit) (?=\w+en(?: (?:aub|svp|alsjeblieft|alstublieft|graag|hoor))?\W*$)",
            r"\1",
        ),
    ),
    "pl": (
        _before("pod żadnym pozorem|w żadnym wypadku"),
        _before("nie (?:trzeba|ma potrzeby|wolno)"),
        _before("nie|nigdy(?: nie)?", r"chc|prosi|życz|powin|musi|zamierz|\w+[aeiyęuóą]ć\b"),
    ),
    "pt": (
        _before("de jeito nenhum|em hipótese alguma|de modo algum"),
        _before("n[ãa]o (?:precisam?|é (?:preciso|para|necessário))"),
        _before("n[ãa]o|nunca|jamais", r"ped|quer|quis|desej|pretend|dev(?:e|o|em|eria)\b|\w+[aei]r\b"),
    ),
    "ro": (_before("nu|niciodată", r"vreau|doresc|trebuie|am cerut|\w+ați\b"),),
    "ru": (
        _before("ни в коем случае(?: не)?|ни за что(?: не)?"),
        _before("не (?:нужно|надо|стоит|следует)"),
        _before("не|никогда не", r"хо[чт]|прос|жела|долж|собира|\w+ть(?:ся)?\b"),
        _before("передумал[аи]?"),
    ),
    "sv": (_after("ska|skall|måste|bör|behöver", "inte|ej"),),
    "tr": (
        (r"\b(?:etme|yapma)\w*e gerek yok\b", "et"),
        _before("asla|sakın"),
    ),
    "uk": (
        _before("ні в якому разі(?: не)?"),
        _before("не (?:треба|потрібно|варто)"),
        _before("не|ніколи не", r"хо[чт]|прос|бажа|повин|\w+ти(?:ся)?\b"),
        _before("передума(?:в|ла|ли)"),
    ),
    "vi": (_before("không cần|đừng(?: có)?|chớ"), _before("không", "muốn|cần|yêu cầu|nên")),
    "zh": ((r"不必|不用|无需|没有?(?:说|要求|让|叫)(?:过|你们?)?要?|不(?=想|要|愿)", ""),),
}
"""By language: patterns of a negation that may refuse, and what stands there without it. The first that matches counts.

They name wishes, duties and what was asked for ("non deve", "didn't ask"), prohibitions in the infinitive, and requests
that are taken back. What describes a problem is left out: "it has not arrived", "I can't cancel it".
"""

SIGNS: Mapping[str, str] = {"en": r"\b(?:did|do|wo)n['’]?t\b|\b(?:no|never|refus)|\b(?:stop|quit|avoid|refrain|hold)\b"}
"""By language with many patterns: one that finds a part of every negation, in less time than the others."""
