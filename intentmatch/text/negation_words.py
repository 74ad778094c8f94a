"""Negations by language, of any kind: for `intentmatch.text.refusals`."""

from __future__ import annotations

from collections.abc import Mapping

# A vowel sign of Hindi is not a word character of `re`.
_LETTER = r"[\w\u0900-\u0963]"
_ASKED_EN = r"(?:(?:never|not)(?: ever)? asked|(?:did not|didn['’]?t)(?: ever)? ask) (?:you )?(?:to|for)"
_REFUSE_EN = r"refus(?:e|ing) to|have no (?:intention|desire|wish|plans?) (?:of|to)"


def _word(*words: str) -> tuple[str, str]:
    """Return the pattern of one of some words, whole, with the space after it; nothing stands there without it."""
    return rf"(?<!{_LETTER})(?:{'|'.join(words)}) (?=\w)", ""


NEGATIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ar": (_word("لا داعي", "لا حاجة"), _word("لا", "مش", "لن", "لم", "عدم")),
    "bg": (_word("не", "никога"),),
    "ca": (_word("no", "mai"),),
    "da": ((r"\b(?:ikke|aldrig)\b", ""),),
    "de": (
        (r"\b(?:auf keinen fall|unter keinen umständen|keinesfalls|niemals|nie)\b", ""),
        (r"\bnicht\b", ""),
        (r"\bk(?=ein(?:e[nmrs]?)?\b)", ""),
    ),
    "el": (_word("δεν", "δε", "μην", "μη", "ποτέ"),),
    "en": (
        (r"\b(?:under no circumstances|by no means|on no account|in no case) ", ""),
        (rf"\b(?:(?:I|we) )?(?:(?:am|are|['’]m|['’]re) )?(?:{_REFUSE_EN}|{_ASKED_EN}) ", ""),
        (r"\b(?:stop|quit|avoid|refrain from|hold off(?: on)?) (?=\w+ing\b)", ""),
        (r"\b(?:(?:I|we)(?: would|['’]d) )?rather (?:you )?(?:not|did not|didn['’]?t|do not|don['’]?t) ", ""),
        (r"\b(?:let['’]?s|let us) not ", ""),
        (r"\b(?:I|we) (?:do not|don['’]?t) (?:think|believe) (?:that )?(?=(?:I|we) )", ""),
        (r"\b(?:(?:I|we)(?:['’]ll| will) not|(?:I|we) won['’]?t) be (?=\w+ing\b)", ""),
        (r"(?<!\w)(?:(?:I am|I['’]?m|we are|we['’]?re) )?not (?=(?:going to |planning to )?\w+ing\b)", ""),
        (r"\b(should|must|shall|may|need)(?: ?not|n['’]?t) (?=be \w+)", r"\1 "),
        (r"\b(?:nobody|no[ -]one) (?:should|must|may|shall) ", ""),
        (r"^not? (?=\w+(?: please)?$)", ""),
        # What comes last takes the request back: "cancel my order, no wait, don't", "cancel it? no!"
        (r"(?<=\w)[ ,.;!?…-]+(?:(?:no|wait|actually|oh|but|please)[ ,]+)*(?:don['’]?t|do not)\W*$", ""),
        (r"\? ?(?:no|nope|never)\W*$", ""),
    ),
    "es": (
        _word("en ningún caso", "por nada del mundo", "bajo ningún concepto", "de ninguna manera"),
        _word("no (?:hay que|hace falta|es necesario)(?: que)?"),
        _word("no", "nunca", "jam[aá]s"),
    ),
    "fa": ((r"(?<!\w)ن(?=می(?:\u200c| )?خوا\w)", ""),),
    "fi": (_word("älä", "älkää", "ei", "en", "emme"),),
    "fr": (
        (r"\b(?:en aucun cas|sous aucun prétexte) ", ""),
        (r"\bn(?:e |['’] ?)((?:\S+ ){0,2}?\S+) (?:surtout )?(?:pas|jamais)\b", r"\1"),
        (r"\b(?:ne )?(?:surtout )?(?:pas|jamais) ", ""),
    ),
    "he": (_word("לא", "אל", "אין צורך"),),
    "hi": ((rf"(?<!{_LETTER})(?:नहीं|नही|मत|न|ना)(?!{_LETTER})", ""),),
    "hu": (_word("nem", "ne", "soha"),),
    "id": (
        _word("(?:tidak|tak|nggak|enggak|gak|ga) (?:usah|perlu)", "jangan(?: sampai)?", "jgn"),
        _word("tidak", "tak", "nggak", "enggak", "gak", "ga"),
    ),
    "it": (
        _word("in nessun caso", "per nessun motivo"),
        _word("non (?:c['’]è bisogno di|serve|occorre|bisogna)"),
        _word("non", "mai", "niente"),
    ),
    "ja": (("(?:は)?しません", "します"), ("ません", "ます")),
    "ko": ((r"(?<!\S)[안못] ", ""),),
    "nb": ((r"\b(?:ikke|aldri)\b", ""),),
    "nl": ((r"\b(?:in geen geval|onder geen beding|niet|nooit|geen)\b", ""),),
    "pl": (
        _word("pod żadnym pozorem", "w żadnym wypadku"),
        _word("nie (?:trzeba|ma potrzeby)"),
        _word("nie", "nigdy"),
    ),
    "pt": (
        _word("de jeito nenhum", "em hipótese alguma", "de modo algum"),
        _word("n[ãa]o (?:precisa|é (?:preciso|para|necessário))"),
        _word("n[ãa]o", "nunca", "jamais"),
    ),
    "ro": (_word("nu", "niciodată"),),
    "ru": (
        _word("ни в коем случае(?: не)?", "ни за что(?: не)?"),
        _word("не (?:нужно|надо|стоит|следует)"),
        _word("не", "никогда", "передумал[аи]?"),
    ),
    "sv": ((r"\b(?:inte|aldrig|ej)\b", ""),),
    "th": (("(?:ไม่ต้อง|ไม่|อย่า(?!ง)|ห้าม)", ""),),
    "tr": (
        (r"\b(?:etme|yapma)\w*e gerek yok\b", "et"),
        (r"\b(?:asla|sakın) ", ""),
        (r"\betme$", "et"),
        (r" değil\b", ""),
    ),
    "uk": (
        _word("ні в якому разі(?: не)?"),
        _word("не (?:треба|потрібно|варто)"),
        _word("не", "ніколи", "передума(?:в|ла|ли)"),
    ),
    "ur": (_word("نہیں", "مت", "نہ"),),
    "vi": (_word("không cần", "đừng(?: có)?", "không", "chẳng", "chớ"),),
    # "能不能" is "can you"; "没事" and "没关系" are "never mind".
    "zh": ((r"不必|不用|无需|没说要?|(?<![能要会是有可])不|没有?(?!事|关系)", ""),),
}
"""By language: patterns of a negation that may refuse, and what stands there without it. The first that matches counts.

Most messages that they find are harmless ("the parcel isn't here yet"). In English, whose harmless negations are many, the
patterns name only words that hardly ever describe a problem.
"""
