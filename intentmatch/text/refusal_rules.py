"""Rules by language that find negations which refuse something, for `intentmatch.text.refusals`."""

from __future__ import annotations

from collections.abc import Mapping

LETTER = r"[\w\u0900-\u0963]"
"""The pattern of a letter, vowel signs of Hindi included."""
_NOT = r"(?:do not|don['’]?t|donot)"
# Verbs after "don't" that describe a state: "don't know", "don't have" refuse nothing.
_STATES = (
    "know|have|see|understand|get|think|remember|recall|recogni[sz]e|find|feel|mind|worry|forget|care|believe|seem|"
    "work|trust|hesitate|agree|own|usually|even|exist|receive|live"
)

# "Never received", "not seen": a report with its subject left out.
_PARTICIPLES = r"\w+ed|been|seen|heard|done|made|had|got|sent"


def head(words: str) -> str:
    """Return the pattern of a place where a clause begins: the start, after a mark, or after one of the words."""
    places = [
        "^",
        "(?<=[,.;:!?…–¡-] )",
        "(?<=[,!?¡…。，！？])",
        *(rf"(?<=(?<!{LETTER}){word} )" for word in words.split()),
    ]
    return f"(?:{'|'.join(places)})"


def _any(words: str) -> str:
    """Return the pattern of one of the words, whole."""
    return rf"(?<!{LETTER})(?:{'|'.join(words.split())})(?!{LETTER})"


_WORDS = r"((?: [\w-]+){0,6}?)"


# Words at the head of a clause that are no imperatives.
_NO_IMPERATIVE_SCANDINAVIAN = _any(
    "jag jeg vi ni man det den de du min mitt mina mit mine har er är var kan får hvorfor varför hvordan när når"
)


def _scandinavian(wishes: str, negation: str, please: str, refrain: str) -> tuple[tuple[str, str], ...]:
    """Return the patterns of a Scandinavian language: the negation follows its verb."""
    start = head(f"{please} men så og och at å att".replace("|", " "))
    return (
        (_any(wishes).replace("(?:", "(", 1) + _WORDS + rf" {negation}\b", r"\1\2"),
        (rf"^((?:(?:{please}) )?(?!{_NO_IMPERATIVE_SCANDINAVIAN})\w+)" + _WORDS + rf" {negation}\b", r"\1\2"),
        (rf"\b(?:{refrain}) (?=\w)|{start}{negation} (?!{_NO_IMPERATIVE_SCANDINAVIAN})(?=\w)", ""),
    )


_FINITE_DE = _any(
    "ist sind bin war waren hat habe haben hatte hab kann können könnt konnte konnten könnte wird werden wurde wurden "
    "darf dürfen lässt lassen soll sollte muss geht gehen komme kommt"
)
# Words at the head of a clause that are no imperatives.
_NO_IMPERATIVE_DE = (
    _FINITE_DE
    + "|"
    + _any(
        "ich du er sie es wir ihr man das der die den dem des dies diese dieser dieses ein eine einen einer warum "
        "wieso weshalb wann wo wie was wer heute gestern morgen jetzt alle leider funktioniert klappt stimmt gefällt "
        "passt noch immer seit bei nach in im am auf mit von vom zum zur aber oder auch so weil wenn dass ob da"
    )
    + r"|(?:mein|dein|kein|unser|euer|eure)\w*"
)

# Verbs after a negation at the head of a clause that describe a problem: "no funciona", "não chegou", "non riesco".
_PROBLEMS_ES = (
    r"(?!(?:(?:me|te|se|le|les|nos) )?(?:(?:funcion|abr|carg|lleg|apare|pued|pod|recib|encuentr|encontr|consig|serv|"
    r"sirv|tien|teng|qued|entiend|acept)\w*|(?:es|era|está|están|estoy|he|hemos|ha|han|hay|va|deja|dejan|sale|entra|sabe)\b))"
)
_PROBLEMS_PT = (
    r"(?!(?:(?:me|se|lhe) )?(?:(?:funcion|abr|carreg|cheg|apare|pod|poss|receb|encontr|cons[ei]g|serv|t[eê]m|tenh|fic|"
    r"entend|aceit)\w*|(?:é|era|está|estão|há|vai|deixa|sai|entra|sabe|acho)\b))"
)
_PROBLEMS_IT = (
    r"(?!(?:(?:mi|ti|si|ci|gli) )?(?:(?:funzion|apr|caric|arriv|appar|pu|poss|riesc|ricev|trov|serv|capi|accett)\w*|"
    r"(?:è|era|ha|ho|va|sta|vanno|parte|entra|sa)\b))"
)
# No pronoun is taken for a verb.
_VERB = r"(?!(?:me|te|se|lo|la|le|li|los|las|les|nos|mi|ti|si|ci|gli|o|a|os|as)\b)\w+"
FINITE_NL = (
    r"(?!.*\b(?:is|ben|zijn|was|waren|kan|kun|kon|kunnen|konden|heb|heeft|hebben|had|hadden|lukt|werd|wordt|worden|zal|"
    r"zullen|kwam)\b)"
)
"""A text without finite verbs of Dutch, which make a statement of it: "mijn pakket is niet aangekomen"."""

REFUSALS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ar": (
        (
            r"(?<!\w)(?:لا|لم أعد|ما|مش|مو|لست) (?="
            + _any("أريد اريد أرغب ارغب أود اود عايز عاوز ابغى أبغى ابي بدي أحتاج احتاج")
            + ")",
            "",
        ),
        # Not of what a thing does ("does not work", "still"), nor after "why".
        (
            r"(?<!\w)(?<!لماذا )(?<!ليش )(?<!ليه )"
            r"(?:لا (?!ت(?:زال|عمل|ظهر|وجد|صل|شتغل|تم)(?!\w))|ما (?!ت(?:م|غير|حدث|حقق)))(?=ت\w+)",
            "",
        ),
        (r"(?<!\w)(?:(?<=أرجو )|(?<=ارجو )|(?<=الرجاء )|(?<=يرجى ))عدم |(?<!\w)لا (?:داعي|حاجة) ", ""),
    ),
    "bg": (
        (r"\bне (?=(?:искам|желая|трябва да|(?:ми|ни) трябва)\b)|\b(?:нямам нужда от|не е нужно да) ", ""),
        (r"\bне (?=\w+(?:йте|ете|и|й)\b)|\bнедей(?:те)?(?: да)? ", ""),
        (r"\bне (?=(?:ме|ми|го|му|я|ги|им) \w+(?:йте|ете)\b)|\bняма нужда (?:да )?", ""),
    ),
    "ca": (
        (r"\bno (?=(?:vull|voldria|volem)\b)", ""),
        (head("però plau i que") + r"no (?=\w+(?:is|eu|in|i|ar|ir|re)\b)", ""),
    ),
    "cs": (
        (r"\bne(?=(?:chci|chceme|chtěl\w*|přej[iu]|hodlám|potřebuj\w*|mus[íi]\w*)\b)", ""),
        (r"\bnení (?:potřeba|třeba|nutné) ", ""),
        (r"\bne(?=\w{3,}(?:te|uj|ej|ovat|it|et|ět|at)\b|(?:z?ruš|s?maž)\b)", ""),
    ),
    "da": _scandinavian(
        "vil ønsker ville skal behøver", "(?:ikke|aldrig|ingen)", "venligst", "lade? være med at|undlad at|undgå at"
    ),
    "de": (
        (
            r"\b(möchten?|moechten?|will|wollen|wollte|würde|werde|wünsche|mag)" + _WORDS + r" nicht\b(?! mehr\b)",
            r"\1\2",
        ),
        (r"\b(möchten?|moechten?|will|wollen|wünsche|brauchen?)" + _WORDS + r" k(ein(?:e[nrms]?)?)\b", r"\1\2 \3"),
        (r"(\bbitte|^doch)" + _WORDS + r" nicht\b", r"\1\2"),
        (r"\b(soll(?:t|en|te|test)?|darf|dürft|brauchs?t|brauchen|müsst|müssen|musst)" + _WORDS + r" nicht\b", r"\1\2"),
        (head("") + rf"(?!{_NO_IMPERATIVE_DE})(\w{{2,}})" + _WORDS + r" nicht\b(?! mehr\b)", r"\1\2"),
        (rf"^(?!.*{_FINITE_DE})(.*?)\bnicht (?=(?:[\w-]+ )?\w+(?:en|ern|eln)(?: bitte| danke)?[.!]*$)", r"\1"),
    ),
    "el": (
        ("δεν (?=" + _any("θέλω θελω θα επιθυμώ χρειάζομαι χρειάζεται") + ")", ""),
        (r"(?<!\w)μην? (?=\w+)", ""),
    ),
    "en": (
        (
            rf"\b(I|we)((?: \w+)?) (?:{_NOT}|no longer|never|would not|wouldn['’]?t|did not|didn['’]?t)((?: \w+)?) "
            r"(want|wish|like|intend|plan|mean|ask)(?:ed|ned)? (?=(?:you |anyone |anybody )?to\b)",
            r"\1\2\3 \4 ",
        ),
        # "I don't want it any more" asks for the end of something.
        (rf"\b(I|we)((?: \w+)?) {_NOT}((?: \w+)?) (want|wanna|need) (?!.*(?:any ?more|please \w))", r"\1\2\3 \4 "),
        (r"\b(I am|I['’]?m|we are|we['’]?re) not (?=(?:going|trying|looking|planning|here|asking) to \w+)", r"\1 "),
        (r"\b(like|want|wish|prefer|decided|rather|better|please) (?:to not|not to|not) (?=(?:to )?\w)", r"\1 to "),
        (
            r"(?<!\w)(?:there is |there['’]?s |you have |you )?"
            rf"(?:no need to|{_NOT} (?:have|need) to|need not|needn['’]?t) (?!so\b|and\b|but\b)",
            "",
        ),
        (
            rf"(?<!\w)(?={_NOT}|never)"
            + head("please pls plz kindly so but just ok okay hey no actually said")
            + rf"(?:{_NOT}|never)(?: you dare| ever| please| just)? (?!(?:{_STATES}|{_PARTICIPLES})\b)(?=\w)",
            "",
        ),
        (r"\b((?:can|could|would|will) you(?: please)?) not ", r"\1 "),
        (r"(?<!\bI )\b(must|should|shall)(?: not|n['’]?t) (?=be \w+ed\b)", r"\1 "),
        (r"\b(you (?:must|should|shall|may))(?: not|n['’]?t) (?=\w)", r"\1 "),
    ),
    "es": (
        (
            r"\b(?:ya )?no (?=(?:quiero|queremos|quisiera|deseo|deseamos|pienso|necesito|me gustaría|voy a)\b)",
            "",
        ),
        (
            head("favor que pero y") + rf"no {_PROBLEMS_ES}(?=(?:me |lo |la |le |los |las |nos )?"
            rf"{_VERB}(?:e|es|en|a|as|an|ar|er|ir)(?:me|lo|la)?\b)",
            "",
        ),
        (r"\bprefiero no ", "prefiero "),
        (r"\bno (?=(?:me|lo|la|los|las) (?:quiero|queremos|quisiera|deseo) \w+[aei]r\b)", ""),
        (r"\bno (?:hace falta|es necesario|hay necesidad de|hay que) (?:que )?", ""),
        (r"\bno (?=tengo (?:ganas|intención) de\b)", ""),
    ),
    "fa": (
        (r"(?<!\w)ن(?=می(?:\u200c| )?خوا(?:ه|ی)?(?:م|یم)(?!\w))", ""),
        (r"(?<!\w)(?:لازم|نیازی) نیست (?:که )?|(?<=قصد )ن(?=دار)|(?<!\w)ن(?=یاز(?:ی)? ندار)", ""),
        (r"(?<!\w)ن(?=(?:کنید|کنین|کن|شود|فرستید|دهید|بندید|ندازید)(?!\w))", ""),
    ),
    "fi": (
        (r"\ben (haluaisi|halua|tahdo|tahtoisi|aio|tarvitse)\b", r"\1n"),
        (r"\b(?:älä|älkää|alka|ala) (?=\w+)", ""),
        (r"\b(?:ei (?:saa|pidä|tarvitse)) (?=\w+)", ""),
    ),
    "fr": (
        (
            r"\b(je|nous|on) n(?:e |['’] ?)((?:souhait|veu|voul|voudr|désir|aimer|compt|tien)\w*) "
            r"(?:vraiment |surtout )?(?:pas|point|plus)\b",
            r"\1 \2",
        ),
        (r"\b(je|j['’]) ?(veux|voudrais|souhaite|aimerais) (?:surtout )?pas\b", r"\1 \2"),
        (
            head("plaît plait svp de mais surtout et") + r"n(?:e |['’] ?)((?:me |m['’]|le |la |les |l['’])?\w+"
            r"(?:[- ](?:moi|le|la|les))?) (?:surtout |jamais |s['’]il vous plaît )?(?:pas|plus|jamais|rien)\b",
            r"\1",
        ),
        (r"\bne (?:pas|plus|jamais|rien) (?=\w+)", ""),
        (r"\b(?:pas besoin|inutile) (?:de |d['’])(?=\w+)", ""),
        (r"\bn['’]ai (?:pas|plus|aucune) (?:envie|besoin|l['’]intention|intention) (?:de |d['’])", ""),
        (r"\b(?:(?:il )?(?:ne |n['’])?(?:faut|doit|dois|devez)) (?:surtout )?pas (?=(?:\w+ )?\w+(?:er|ir|re)\b)", ""),
        (head("") + r"(\w+(?:ez|e|s)(?: \w+)?) pas\b", r"\1"),
    ),
    "he": (
        ("(?:לא|אינני) (?=" + _any("רוצה רוצים מעוניין מעוניינת מבקש מבקשת") + ")", ""),
        (r"(?<!\w)(?:אל|נא לא|בבקשה לא|אין צורך|לא צריכה?) (?=\w+)", ""),
    ),
    "hi": (
        (rf"(?<!{LETTER})(?:नहीं|नही) (?=(?:करना|कराना|करवाना|चाह|चाहिए|बंद)\w*)", ""),
        (rf"(?<!{LETTER})मत (?={LETTER}+)", ""),
        (rf"(?:कोई )?(ज\u093c?रूरत|आवश्यकता) (?:नहीं|नही)(?!{LETTER})", r"\1"),
        # Before a participle it is a prefix: "ना पढ़े हुए" is "unread".
        (rf"(?<!{LETTER})(?:ना|न) (?=(?:कर|दें|दो|दीज|भेज|हटा)|{LETTER}+एं?(?!{LETTER}))", ""),
        (rf"(?<!{LETTER})(?:नहीं|नही) (?={LETTER}+(?:ना|नी|ने)(?!{LETTER}))", ""),
    ),
    "hu": (
        (r"\bnem (?=(?:kell|szükséges) \w)|\bnincs (?=szükség)", ""),
        (r"\bnem (?=(?:szeretném|szeretnék|akarom|akarok|kívánom|kívánok|kérem|kérek)\b)", ""),
        (r"(?<!\w)ne (?=\w{3,})", ""),
    ),
    "id": (
        (r"\b(?:tidak|tak|nggak|gak|ga|enggak) (?=(?:mau|ingin|pengen|akan|jadi)\b)", ""),
        (r"\b(?:jangan|jgn) (?:dulu )?(?=\w+)", ""),
        (r"\b(?:untuk|agar|supaya) (?:tidak|tak) (?=me\w+)|\b(?:tidak|tak|nggak|gak|ga) (?:perlu|usah) ", ""),
    ),
    "it": (
        (r"\bnon (?=(?:lo|la|li|le|mi) (?:voglio|vorrei) \w+re?\b)|\bnon (?=ho bisogno\b)", ""),
        (r"\bnon (?:c['’]è bisogno di|serve|occorre|bisogna) ", ""),
        (r"\bnon (?=(?:voglio|vogliamo|vorrei|vorremmo|desidero|desideriamo|intendo|ho intenzione)\b)", ""),
        (
            head("favore di ma e") + rf"non {_PROBLEMS_IT}(?=(?:mi |lo |la |li |le |ci )?"
            rf"{_VERB}(?:are|ere|ire|ate|ete|ite|ino|i|a|rmi|rlo|rla|telo|tela)\b)",
            "",
        ),
    ),
    "ja": (
        (r"たく(?:は)?(?:ない|ありません)(?:です|んです|のです)?", "たい"),
        # Before the ない of a verb stands no syllable in u or o: つないで is "connect", つながないで "don't connect".
        (
            r"(?<=[^\sうくすつぬふむゆるぐずづぶぷおそとのほもよろをん])ないで"
            r"(?=ください|下さい|ほしい|欲しい|くれ|お|ね|よ|$|[。!！])",
            "て",
        ),
        (r"(?<=[てで])(?:ほしく|欲しく)(?:は)?(?:ない|ありません)(?:です)?", "ほしい"),
        (r"はしません|しなくて(?:も)?(?:いい|良い|結構)(?:です)?", "します"),
        (r"(?:する)?つもりは(?:ない|ありません)(?:です)?", "するつもりです"),
        (r"(?:は|の必要は|する必要は|しなくて)?(?:不要|必要(?:は)?(?:ない|ありません)|[い要]りません)(?:です)?", ""),
    ),
    "ko": (
        (r"(?<=[가-힣])고 싶지 ?(?:는 |은 )?않(?:아요|습니다|아|은데요?|네요)", "고 싶어요"),
        (
            r"(?<=[가-힣])지 ?(?:는 |좀 )?(?:마세요|말아 ?주세요|말아요|마|마요|말아줘|말아라|마십시오|말아주십시오)"
            r"(?![가-힣])",
            "세요",
        ),
        (r"(?<!\w)안 (?=[가-힣]*(?:할래|하고|할게|하겠|해도|하려|시켜)\w*)", ""),
        (r"할 필요(?:가|는|도)? ?없(?:어요|습니다|다|네요|어)", "해 주세요"),
        (r"필요(?:가|는|도)? ?없(?:어요|습니다|다|네요|어)", "필요해요"),
        (r"(?<=원하)지 ?않(?:아요|습니다|아)", "여요"),
        (r"(?<!\w)안 해 ?(?:주셔도|줘도) (?:돼요|됩니다|돼|되요)", "해 주세요"),
    ),
    "nb": _scandinavian(
        "vil ønsker ville skal trenger behøver", "(?:ikke|aldri|ingen)", "vennligst", "la være å|la vær å|unngå å"
    ),
    "nl": (
        (r"\b(wil|willen|wilde|wens|ga|zou|hoef|hoeft|hoeven)" + _WORDS + r" niet\b(?! meer\b)", r"\1\2"),
        (r"\b(wil|willen|wens)" + _WORDS + r" geen\b", r"\1\2 een"),
        (r"\b(heb|hebben)" + _WORDS + r" geen\b(?=.* nodig\b)", r"\1\2 een"),
        (r"\bniet (?=nodig\b)", ""),
        (r"\b(graag|gelieve|alsjeblieft|alstublieft|aub|svp)" + _WORDS + r" niet\b", r"\1\2"),
        (
            head("") + r"(?!(?:mijn|de|het|een|dit|dat|deze|waarom|is|kan|werkt|komt|kreeg|heb|app|er)\b)"
            r"(\w{3,})" + _WORDS + r" niet\b",
            r"\1\2",
        ),
        (
            rf"^{FINITE_NL}(.*?)\bniet (?=(?:[\w-]+ )?\w+en(?: aub| svp| als\w+blieft| graag| hoor)?[.!]*$)",
            r"\1",
        ),
    ),
    "pl": (
        (r"\bnie (?=(?:chcę|chce|chcemy|chciał\w*|zamierzam|planuję|życzę sobie|potrzebuj\w*|musi\w*|trzeba)\b)", ""),
        (
            head("proszę prosze prosimy żeby ale więc jej go ich tego mi") + r"nie "
            r"(?=\w+(?:ć|c|uj|ujcie|aj|ajcie|cie|ij|yj|asz|isz|sz)\b)",
            "",
        ),
    ),
    "pt": (
        (
            r"\b(?:já )?n[ãa]o (?=(?:quero|queremos|queria|desejo|desejamos|gostaria|pretendo|vou|precis(?:o|am?|amos))"
            r"\b)",
            "",
        ),
        (
            head("favor que mas para e")
            + rf"n[ãa]o {_PROBLEMS_PT}(?=(?:me |o |a |os |as |se )?{_VERB}(?:e|es|em|a|as|am|ar|er|ir)\b)",
            "",
        ),
        (r"\bprefiro n[ãa]o ", "prefiro "),
    ),
    "ro": (
        (r"\bnu (?=(?:vreau|vrem|doresc|dorim|intenționez|aș vrea|as vrea|am nevoie)\b)", ""),
        (r"\bn-(?=(?:aș|as|am de gând|am nevoie)\b)|\bnu (?:e|este) (?:nevoie|necesar) (?:să |de )?", ""),
        (
            head("rog să sa") + r"nu(?:-(?:l|mi|o|i|le))?(?: mai)? "
            r"(?!(?:am|ai|a|au|ați|pot|poate|merge|e|este|sunt|găsesc|știu|înțeleg|primesc|funcționează)\b)"
            r"(?=(?:îmi |imi |o |l |mi-)?\w+)",
            "",
        ),
    ),
    "ru": (
        ("не (?=" + _any("хочу хотим хотел хотела хотели желаю собираюсь собираемся планирую буду") + ")", ""),
        (r"(?<!\w)не (?:надо|нужно|стоит|следует)(?: мне| бы)?,? ?|(?<!\w)не (?=нуж(?:ен|на|ны)(?!\w))", ""),
        # "Не могли бы вы" is "could you"; a past plural ends in "ли".
        (r"(?<!\w)не (?!\w+ли(?!\w))(?=\w+(?:йте|ите|ьте|й|и|ь|йтесь|ть|ться)(?!\w))", ""),
    ),
    "sk": (
        (r"\bne(?=(?:chce[mš]?e?|chcel\w*|želám|prajem|hodlám|potrebuj\w*|mus[íi]\w*)\b)", ""),
        (r"\bne(?=\w{3,}(?:te|uj|aj|ovať|iť|ať|eť|yť)\b|(?:z?ruš|z?maž)\b)", ""),
    ),
    "sv": _scandinavian(
        "vill önskar ville tänker ska skulle behöver",
        "(?:inte|ej|aldrig|ingen|inget|inga)",
        "snälla|vänligen",
        "låt bli att|undvik att",
    ),
    "th": (
        (r"ไม่(?=อยาก|ต้องการ|ขอ)", ""),
        (r"(?:อย่า(?!ง)(?:เพิ่ง)?|ห้าม|ไม่ต้อง)", ""),
    ),
    "tr": (
        (r"\bolmasın\b", "edilsin"),
        (r"\bistem(?:iyorum|iyoruz|em|eyiz)\b", "istiyorum"),
        (r"\b(\w+m[ae])y[ae] (?:gerek|lüzum) yok\b", r"\1k istiyorum"),
        (r"\b(\w+ma)yaca(?:ğım|ğız)\b", r"\1k istiyorum"),
        (r"\b(\w+me)yece(?:ğim|ğiz)\b", r"\1k istiyorum"),
        (r"\b(\w*[aıou]\w*)may?(?=(?:ın(?:ız)?|alım|sın(?:lar)?)\b)", r"\1"),
        (r"\b(\w*[eiöü]\w*)mey?(?=(?:in(?:iz)?|elim|sin(?:ler)?)\b)", r"\1"),
        (r"\b(et|sil|gönder|kes|değiştir|ekle|kaydet)me\b", r"\1"),
        (r"\b(çıkar|aç|yap|kaldır|başlat|durdur|boz|sat)ma\b", r"\1"),
    ),
    "uk": (
        ("не (?=" + _any("хочу хочемо хотів хотіла бажаю збираюся збираюсь планую буду") + ")", ""),
        (r"(?<!\w)не (?:треба|потрібно|варто|слід)(?: мені)?,? ?|(?<!\w)не (?=потріб(?:ен|на|ні)(?!\w))", ""),
        (r"(?<!\w)не (?!\w+ли(?!\w))(?=\w+(?:йте|іть|ьте|й|и|ь|те|ти|тися)(?!\w))", ""),
    ),
    "ur": (
        (r"(?<!\w)نہیں (?=(?:چاہ|کرنا|کروانا)\w*)", ""),
        (r"(?<!\w)(?:مت|نہ) (?=\w+)", ""),
    ),
    "vi": (
        (r"(?<!\w)(?:không|ko|k|chẳng|chưa) (?=(?:muốn|cần|định)(?!\w))", ""),
        (r"(?<!\w)(?:xin )?(?:đừng|chớ|khỏi)(?: có)? (?=\w)", ""),
        (r"(?<=vui lòng )không |(?<=làm ơn )không ", ""),
    ),
    "zh": (
        (r"请(?:勿|别|不要)", "请"),
        (r"不(?:是)?(?=想|打算|需要|愿意|准备)|没有?(?=想|要|打算)", ""),
        (r"(?:请勿|千万别|千万不要|不要|不用|先别|勿|(?<![区區特级級性分差个個])[别別](?!的|人|处|家|墅|名))", ""),
        (r"没有?必要|无需|不必", ""),
        (r"(?<!不得)不(?=取消|退|删|改|换|买|注销|订)", ""),
    ),
}
"""By language: patterns that find a negation and what stands there without it. The first that matches counts."""

FORGET: Mapping[str, str] = {
    "ar": "تنس",
    "bg": "забрав",
    "ca": "oblid",
    "cs": "zapome",
    "da": "glem",
    "de": "verg[ie]ss|versäum",
    "el": "ξεχάσ",
    "en": "forget|hesitate|worry",
    "es": "olvid|preocup|dud",
    "fa": "فراموش",
    "fi": "unohd",
    "fr": "oubli|hésit|inquiét",
    "he": "תשכח",
    "hi": "भूल",
    "hu": "felejts",
    "id": "lupa",
    "it": "dimentic|preoccup|esit",
    "ja": "忘れ",
    "ko": "잊",
    "nb": "glem",
    "nl": "verge(?:et|ten)",
    "pl": "zapom",
    "pt": "esque|preocup",
    "ro": "uita",
    "ru": "забу|забы",
    "sv": "glöm",
    "th": "ลืม",
    "tr": "unut",
    "uk": "забу",
    "ur": "بھول",
    "vi": "quên",
    "zh": "忘",
}
"""By language: parts of verbs whose prohibition asks for what they name: "don't forget to ..."."""
