"""Phrases that refuse the request beside them, by language, for `intentmatch.text.refusals`.

A request is not needed or not allowed ("it is not necessary to", "must not"), was never made ("I didn't ask about"), is
not meant ("it's not about"), is given up ("decided against"), or politely declined ("no refund please").
"""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.text.refusal_rules import FINITE_NL, LETTER

# Up to six words between two parts of a phrase: more belong to another clause, and each one costs time.
_WORDS = r"((?: [\w-]+){0,6}?)"
# What the first person does not do after all, unless it describes a problem: "ik stuur het toch niet terug".
_PROBLEMS_NL = r"(?!.*\b(?:werkt|doet|past|snap|vind|krijg|zie|weet|begrijp|ontvang)\b)"
_PROBLEMS_EL = r"(?!(?:\w+ )?(?:μπορώ|βρίσκω|καταλαβαίνω|ξέρω|βλέπω|λαμβάνω|έχω)\b)"


def _before(phrase: str) -> tuple[str, str]:
    """Return the pattern of a phrase before a request."""
    return rf"(?<!{LETTER})(?:{phrase})(?: |(?<=['’]))(?=\w)", ""


def _after(phrase: str) -> tuple[str, str]:
    """Return the pattern of a phrase behind a request."""
    return rf"(?<={LETTER}) (?:{phrase})(?!{LETTER})", ""


def _off(action: str, phrase: str) -> tuple[str, str]:
    """Return the pattern of a phrase behind the noun of an action: "the code is not valid" is a problem."""
    return rf"\b((?:{action})\b{_WORDS}) (?:{phrase})(?!\w)", r"\1"


_CZECH_AND_SLOVAK = (
    _before(
        "ne(?:ptám se|pýtam sa) na|nejde (?:mi )?o|nemluvím o|nehovorím o|není důvod|nie je dôvod|ani mě nenapadne"
        "|v žádném případě|v žiadnom prípade|obejdu se bez|zaobídem sa bez|je zakázáno|je zakázané|nezajímá mě"
        "|nezaujíma ma|neměla? jsem v úmyslu|nemala? som v úmysle|(?:nikdy )?(?:(?:jsem|som"
        "|sme) )?(?:nikdy )?ne(?:žádal|žiadal|prosil|říkal|řekl|hovoril|povedal|ptal|pýtal)[aiy]?(?: jsem| som"
        r"| sme)?(?: se| sa)?(?: o| na)?|(?:není|nie je) (?:už )?(?:(?:za)?potřeb[aíny]\w*|třeba|treba|nut\w+"
        r"|potreb\w+)|net[řr]eba"
    ),
    _after(
        r"(?:je )?(?:zakáz[aá]\w+|zbytečn\w+)|si ne(?:přeji|přeju|želám|prajem)|ne(?:ní|bude|bola?|byla?) (?:nutn\w+"
        r"|mým úmyslem)|(?:není|nie je) (?:už )?(?:(?:za)?potřeb[aíny]\w*|třeba|treba|nut\w+|potreb\w+)|net[řr]eba"
    ),
    (r"\b(?:(?:ať|nech) (?:nikdo|nikto)|(?:nikdo|nikto) (?:ať|nech)) ne(?=\w{3})", ""),
    (r"\b(?:ať|nech)((?: \w+){0,3}?) ne(?=\w{3})", r"\1 "),
    (r"\bnic(?: si)? ne(?=\w{3})", ""),
    (r"\bne(?=(?:žádal|žiadal|chtěl|chcel|pýtal|prosil)[aiy]?\b)", ""),
    (r"\b((?:rad[ěe]?[jš]?[šj]?[ie]j?|rozhod(?:la?|ol))(?: \w+){0,3}?) ne(?=\w{3})", r"\1 "),
    (r"\bne(?=(?:sm(?:í|ie|ějí|ú|íte|iete)|m[áa] (?:se|sa|být|byť))\b)", ""),
    (r"\bne(?=(?:mám v (?:úmyslu|plánu|pláne)|plánuj\w*|mienim|jdu|jdem|budu|budem|budeme)\b)", ""),
    _off(r"\w+(?:n[íi]|nie)", r"(?:už )?(?:neplatí|odpadá|odpad[áa]|ber(?:u|iem) (?:zpět|späť))"),
)

_DANISH_AND_NORWEGIAN = (
    _before(
        "(?:spørger|spør|taler|snakker|handler|gælder|gjelder) (?:slet |altså )?ikke(?: om)?|(?:bad|ba|spurgte"
        "|spurte) (?:jer |dere |dig |deg )?(?:ikke|aldrig|aldri)(?: (?:jer|dere|dig|deg))?(?: om)?(?: at| å)?|(?:der"
        "|det) er ingen (?:grund|grunn) til(?: at| å)?|rør ikke|vov ikke at|ikke våg å|(?:har )?(?:besluttet"
        "|bestemt (?:meg|mig) for|valgt)(?: at)? ikke(?: at| å)?|det er forbudt(?: at| å)|klarer (?:meg|mig) (?:uden"
        "|uten)|slippe?(?: for)?(?: at| å)|er ikke interesser[et]+ i(?: at| å)?|havde ikke tænkt mig at"
        "|har (?:jo )?(?:aldrig|aldri|ikke) (?:bedt|sagt|spurgt|spurt)(?: (?:jer|dere|deg|dig))?(?: om)?(?: at| å)?"
        "|(?:hellere|heller|helst) (?:ikke|ingen)|det (?:er|var) ikke (?:nødvendigt?|meningen|behov for"
        "|brug for)(?: at| å)?|ingen (?:må|skal)"
    ),
    _after(
        "(?:er )?(?:forbudt|unødvendige?t?|overflødige?t?)|(?:trengs|behøves|trenges) ikke|kan dere droppe"
        "|er ikke (?:længere |lenger )?nødvendige?t?|er ikke (?:noget|noe),? jeg (?:trenger|vil ha(?:ve)?|behøver"
        "|ønsker)|(?:vil|skal|trenger|ønsker|behøver) jeg (?:ikke|aldri|aldrig)(?: ha(?:ve)?| noe av)?|bortfalder"
        "|bortfaller|er (?:ikke aktuelt|uaktuelt?)"
    ),
    (r"\bikke (?=(?:brug|behov) for\b)", ""),
)

PHRASES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ar": (
        _before(
            "لا (?:أسأل|اسأل) عن|(?:الأمر|الموضوع) لا يتعلق|لا أتحدث عن|لا (?:يوجد سبب|مبرر)|إياكم|إياك|لا أحد"
            "|لن(?= أ)|لم (?:أقصد|أكن أريد|أرد|أرغب في)(?: أن)?|قررت (?:عدم|ألا)|لا يهمني"
            "|لا (?:يجب|ينبغي|يجوز)(?! (?:أن )?(?:أ|[تي]كون))(?: أن)?|ليس من الضروري(?: أن)?|ممنوع|أفضل (?:عدم|ألا)"
            "|لم (?:أطلب|اطلب|أقل|أسأل عن|اسأل عن|نطلب)(?: أبدا)?(?: أن)?|ما (?:طلبت|قلت|سألت عن)"
        ),
        _after(
            r"ممنوع\w*(?=[.!]?$)|(?:ليست?|مش|مو|غير|لم يعد|لم تعد) (?:ضروري|مطلوب|لازم|مهم)\w*|لا (?:داعي"
            "|حاجة) (?:له|لها|لهما)"
        ),
    ),
    "bg": (
        _before(
            "не (?:питам|говоря|става (?:дума|въпрос)) за|нека никой (?:да )?не|няма (?:причина|смисъл)(?: да)?"
            "|реших да не|забранено е(?: да)?|не (?:ме интересува|исках|възнамерявах)(?: да)?|ще се справя без"
            "|(?:по-добре|предпочитам)(?: да)? не|(?:никога )?не съм (?:искал|молил|казвал|питал)[аи]?(?: да| за)?"
            "|не (?:бива|е необходимо|се налага)(?: да)?|никой (?:да )?не"
        ),
        _after(
            "(?:е )?(?:забранено|излишно)|не ме интересува|(?:вече )?не (?:е|са|ми е|ми) (?:нуж[дн]|необходим"
            r"|трябва)\w*"
        ),
        _off(r"\w+(?:не|нето|ция|цията)", r"отпада"),
    ),
    "ca": (
        _before(
            "no (?:pregunto|parlo|es tracta) (?:per|de)|he decidit no|està prohibit|no (?:m'interessa|volia"
            "|tenia intenció de)|prefer(?:eixo|iria) (?:que )?no|no (?:cal|fa falta|s'ha de|és necessari)(?: que)?"
            "|(?:mai )?no (?:he (?:demanat|dit|preguntat)|vaig (?:demanar|dir|preguntar))(?: que| per)?|que ningú"
        ),
        _after("no (?:cal|fa falta|és necessàri[ae])"),
    ),
    "cs": _CZECH_AND_SLOVAK,
    "da": _DANISH_AND_NORWEGIAN,
    "de": (
        _before(
            "(?:frage|rede|spreche) (?:gar |doch )?nicht (?:nach|von|über)|es geht (?:mir "
            "|hier )?(?:gar )?nicht (?:um|darum)|wag(?:t|en sie)? es (?:ja )?nicht|es gibt keinen grund|keinen grund"
            "|es wäre mir lieber,? (?:sie|ihr|wenn (?:sie|ihr)) nicht|verzichte auf|nicht interessiert an"
            "|von .{0,30} absehen|es ist verboten|es ist nicht (?:nötig|notwendig|erforderlich|gewünscht)"
            "|niemand (?:soll|darf|muss)"
        ),
        _after(
            "(?:ist )?(?:unnötig|überflüssig|verboten|untersagt)|(?:muss|brauche|will|möchte|wollte"
            r"|sollt?e?n?) ich (?:\w+ ){0,2}?nicht|interessiert mich nicht|war nie die rede|(?:hat"
            "|haben) sich erledigt|(?:ist|sind) (?:hinfällig|vom tisch)|entfällt|kommt nicht in ?frage|(?:ist"
            "|sind) nicht (?:mehr )?(?:nötig|notwendig|erforderlich|gewünscht|gewollt)|(?:möchte|will|werde"
            r"|brauche) ich (?:\w+ ){0,2}?nicht(?: mehr)?$"
        ),
        (r"\b(möchten?|will|wollen)" + _WORDS + r" nichts (?=\w+(?:en|ern|eln)\b)", r"\1\2 "),
        (r"\bk(eine? .+?) (?:nötig|notwendig|erforderlich)\b", r"\1"),
        (
            r"\b(möchten?|will|wollen|werden?)"
            + _WORDS
            + r" nicht mehr (?=(?!bekomm|erhalt|nutz|hab|verwend|brauch|angeruf)\w+(?:en|ern|eln)\b)",
            r"\1\2 ",
        ),
        (r"\b(?:hab\w*|ha[bs]t?) (?:ich |wir )?(?:mich|uns) gegen (.+) entschieden\b", r"\1"),
        (r"^(?:bloß|bloss|bitte|lieber|nur)(?: bitte)? k(ein(?:e[nrms]?)?)\b", r"\1"),
        (r"\b(muss|müssen)" + _WORDS + r" nicht (?=(?:[\w-]+ )?\w+(?:en|ern|eln|t)\b)", r"\1\2 "),
        (
            r"\b(?:nie(?:mals)?|nicht) (?=(?:[\w-]+ ){0,6}?(?:gebeten|verlangt|gesagt|gefragt|gewollt)\b)",
            "",
        ),
    ),
    "el": (
        _before(
            "δεν? (?:ρωτ[άώ]ω?|μιλάω|πρόκειται) για|δεν υπάρχει (?:λόγος|ανάγκη|περίπτωση)(?: να)?"
            r"|ούτε να (?:το )?σκεφτ\w+ να|αποφάσισα να μην?|δεν? (?:με ενδιαφέρει|σκόπευα|ήθελα|εννοούσα)(?: να)?"
            "|κάνω και χωρίς|(?:ποτέ )?δεν? (?:ζήτησα|είπα|ρώτησα)(?: ποτέ)?(?: για| να)?|(?:καλύτερα"
            "|προτιμώ)(?: να)? μην?|δεν? (?:είναι|ειναι) (?:ανάγκη|απαραίτητο|αναγκαίο)(?: να)?|κανείς (?:να μην?"
            "|δεν πρέπει να)|δεν? (?:πρέπει|επιτρέπεται|σκοπεύω|έχω σκοπό|προτίθεμαι|πρόκειται)(?: να)?"
            "|απαγορεύεται να"
        ),
        _after(
            r"(?:είναι )?(?:περιττ|απαγορεύ)\w+|δεν? (?:με ενδιαφέρει|θέλω|ήταν η πρόθεσή μου)|δεν? (?:χρειάζεται"
            r"|είναι (?:απαραίτητ\w+|ανάγκη))(?: πια| πλέον)?"
        ),
        (rf"(?<!\w)δεν? {_PROBLEMS_EL}(?=(?:\w+ )?\w+[ωώ]\b.*τελικά)|(?<=τελικά )δεν? {_PROBLEMS_EL}", ""),
    ),
    "en": (
        _before(
            "(?:it is|it['’]?s|this is|this is)(?: not|n['’]?t) about|(?:not|n['’]?t) (?:asking|talking"
            "|here) (?:about|for)|would you mind not|who said (?:that )?(?:I|we) (?:want(?:ed)?|asked)(?: you)? to"
            "|(?:was|am|were|are)(?: not|n['’]?t) looking to|(?:there is|there['’]?s) no (?:point in|reason to"
            "|reason for)|don['’]?t (?:even )?(?:think about|you dare)|decided (?:against|not to)|(?:I am|I['’]m "
            "|we are )?(?:not interested in|in no need of)|you can skip|(?:no one|nobody) (?:is|are) to"
            "|can do without|it is (?:forbidden|prohibited) to|had no intention (?:of|to)|did(?: not"
            "|n['’]?t) (?:mean|intend|want) to|(?:(?:I|we) )?(?:never|not|(?:did|was|have|had)(?: not"
            "|n['’]?t))(?: ever)? (?:say|said|mention(?:ed)?|talk(?:ing|ed)? about|ask(?:ing|ed)? about"
            "|asking for)(?: anything about| about)?(?: that)?|never asked for|nobody (?:asked (?:for|about)"
            "|said anything about|asked you to)|who said anything about|(?:I|we)(?:['’]d| would) (?:rather"
            "|prefer) (?:if |that )?you (?:didn['’]?t|did not|don['’]?t|do not)|(?:it is|it['’]?s|there is"
            "|there['’]?s) (?:not (?:necessary|required) to|no (?:need for|point in|reason to))"
        ),
        _after(
            "(?:is|are) (?:unnecessary|superfluous|forbidden|prohibited)|(?:not|no longer) (?:required|necessary)"
            "|(?:is|are|was) (?:not|no longer) (?:necessary|needed|required|wanted)|(?:is|are)n['’]?t (?:necessary"
            "|needed)|(?:is|are) (?:off the table|out of the question|not happening)|(?:won['’]?t"
            "|will not) be (?:necessary|needed)"
        ),
        (r"\b(?:I am|I['’]?m|we are|we['’]?re) not (?=\w+ing\b.*\b(?:after all|any ?more)\b)", ""),
        (r"\b(is|are) not to (?=be \w+ed\b)", r"\1 to "),
        (r"\bno (.+?) (?:is |are )?(?:needed|required|necessary)\b", r"\1"),
        _off(
            r"cancel\w+|\w+ation|change|return|request|unsubscri\w+", r"(?:(?:is|are) off|does(?: not|n['’]?t) count)"
        ),
    ),
    "es": (
        _before(
            "no (?:(?:estoy )?pregunt(?:o|ando)|hablo|se trata|va) (?:por|de|sobre)|ni se (?:les|te|le|os|me) ocurra"
            "|ni (?:piens(?:en|es|e) en|loco)|no hay (?:necesidad|motivo|razón|razones) (?:de|para)"
            "|(?:he )?decid(?:í|ido) no|no me interesa|prescindo de|descarto|está prohibido|no (?:era"
            "|fue) mi intención|no (?:quería|pretendía|pensaba|tenía intención de)|desist(?:o|í) de|(?:prefiero"
            "|prefer(?:imos|ir[ií]a(?:mos)?)) (?:que )?no|que nadie|nadie (?:debe|tiene que)|(?:nunca|jam[aá]s"
            "|no) (?:he |hemos )?(?:pedí|pedi|pedido|dije|dicho|pregunt(?:é|e|aba|ado)|solicité)(?: que| por)?"
            "|(?:eso )?no (?:se )?(?:lo |la )?(?:deben?|debéis|tienen? que|tenéis que)"
        ),
        _after(
            "(?:está )?prohibid[oa]|no (?:me interesa|era (?:lo que quería|mi intención))|(?:es|está) de más|déjenlo"
            "|dejadlo|no se toca|(?:ya )?no (?:es|son|será) necesari[oa]s?|(?:ya )?no (?:hace|hacen) falta"
            "|queda sin efecto"
        ),
        (r"^que (?:no|nunca) (?=\w)", "que "),
    ),
    "fa": (
        _before(
            r"مبادا|کسی نباید|دلیلی ندارد|تصمیم گرفتم که|نباید|بی\u200c?خیال|لازم نیست|نیازی نیست(?: که)?"
            "|هرگز نخواستم(?: که)?"
        ),
        _after(
            r"(?:را |رو )?(?:نادیده بگیر(?:ید|ین)|پس می\u200c?گیرم|منصرف شدم|همین\u200c?طور بمون[هد])|(?:را "
            r"|رو )?(?:فراموش کن(?:ید|ین)?|بی\u200c?خیال(?: شو| شوید| شین)?|ول کن(?:ید|ین)?|منتفیه|منتفی(?: است|ه)?)"
            "|(?:لازم|ضروری|نیازی?|احتیاجی?) (?:نیست|ندارم|ندارد|نداره)|(?:را |رو )?(?:نخواستم|نخواسته بودم|نگفتم)"
        ),
        (r"(?:در ?باره|راجع به|درمورد) (.+?) (?:نپرسیدم|نمی\u200c?پرسم|نیست)", r"\1"),
        (r"(?<!\w)کسی (.+?) ن(?=کن[هد]|شه)", r"\1 "),
        (r"(?<!\w)(?:قصد|نیازی? به|نیازی?) (.+?) ن(?:دارم|داشتم|داریم)(?!\w)", r"\1"),
        (r"(?<!\w)ن(?=(?:کنم|کنیم|شه|شن|باشه)(?!\w))|(?<!\w)ن(?=بای?د(?!\w))", ""),
    ),
    "fi": (
        _before(
            "en (?:kysy|kysynyt|puhu)|ei ole kyse|et(?:te)?hän|ei ole (?:mitään )?(?:syytä|järkeä)|älköön kukaan"
            "|en sittenkään|päätin olla|pärjään ilman|en (?:kaipaa|aikonut|tarkoittanut|ole kiinnostunut)"
            "|on kielletty[äa]?|(?:ei ole|en näe) (?:tarvetta|tarpeen|syytä)|en (?:ole )?(?:koskaan "
            "|ikinä )?(?:pyytänyt|sanonut|kysynyt)|enkä (?:aio|halua)|(?:mieluummin|mieluiten) (?:en|ei)"
            "|kukaan ei saa"
        ),
        _after(
            r"on (?:turha\w*|tarpeeton\w*|kielletty\w*)|ei (?:kiinnosta|tarvita)|ei (?:enää )?(?:tarvita|tarvitse)"
            r"|ei ole (?:enää )?(?:tarpeen|tarpeellin?\w+|välttämät\w+|pakollin?\w+)|(?:en|emme) (?:halua|tarvitse"
            "|pyytänyt)"
        ),
    ),
    "fr": (
        _before(
            "(?:je )?ne (?:parle|demande) pas (?:de|d['’])|il ne s['’]agit pas (?:de|d['’])|ce n['’]est pas pour"
            "|que personne ne|il n['’]y a (?:pas lieu|aucune raison|pas de raison|nul besoin) (?:de|d['’])"
            "|on ne touche pas à|hors de question (?:de|d['’])|décidé de ne pas|me passer(?:ai|ais)? de"
            "|je ne cherche pas à|il est interdit de|je (?:ne voulais|n['’]avais) pas(?: l['’]intention de"
            "| prévu de)?|il n['’]a jamais été question de|ça ne m['’]intéresse pas de|renonce à"
            "|(?:je )?n['’]ai (?:jamais|pas|rien) (?:demandé|dit|parlé|réclamé|voulu)(?: à| de| que)?"
            "|personne ne doit|il n['’]est (?:pas|plus) (?:nécessaire|utile|obligatoire|question) (?:de|que)"
            r"|(?:je )?préf\w+ que vous ne"
        ),
        _after(
            "(?:est )?(?:interdite?|inutile|superflue?)|ne m['’]intéresse (?:pas|plus)"
            "|n['’]était pas (?:mon intention|prévue?)|n['’](?:est|était) (?:pas|plus) (?:nécessaire|utile"
            "|souhaitée?|voulue?|obligatoire|d['’]actualité)s?|ne (?:sera|seront) (?:pas|plus) (?:nécessaire|utile)s?"
        ),
    ),
    "he": (
        _before(
            "לא (?:שואלת?|מדברת?) על|זה לא (?:קשור|על)|אף אחד (?:ש)?לא(?= י)|שלא תעזו?|אין (?:סיבה|טעם)|החלטתי לא"
            "|(?:אני )?מוותרת? על|לא מעוניינ?ת? ב|אין(?= ל)|שלא|אסתדר בלי|אסור(?: לכם| לך)?|לא (?:צריך|צריכים|חייבים"
            "|חייב|כדאי)|אין (?:צורך|סיבה)|(?:מעדיף|מעדיפה|עדיף)(?: ש)? ?לא|(?:מעולם |אף פעם )?לא (?:ביקשתי|אמרתי"
            "|שאלתי|רציתי|התכוונתי)(?: על)?|שאף אחד לא"
        ),
        _after(r"(?:מיותר|אסור|לא נדרש|לא מעניין)\w*|לא (?:נחוצה?|דרושה?|נדרשת?|צריך|צריכה|הכרחית?)"),
    ),
    "hi": (
        _after(
            r"(?:के बारे में |की बात )?(?:नहीं|नही) (?:पूछ रह\S+|कर रह\S+ बात)|की बात (?:नहीं|नही) है"
            r"|(?:को )?(?:अनदेखा|नज़रअंदाज़) कर(?:ें|ो|िए|\s?दें)?|वैसा ही रहने (?:दें|दो)"
            "|का (?:मेरा )?(?:कोई )?इरादा (?:नहीं|नही)(?: है| था)?|(?:मना|बेकार) है|(?:करनी|करना) (?:नहीं|नही)"
            "|(?:को |के लिए )?(?:कभी )?(?:नहीं|नही) (?:कहा|माँगा|मांगा|माँगी|मांगी|पूछा|बोला)(?: था| थी| है)?"
            r"|(?:की |के )?(?:कोई )?(?:ज\u093c?रूरत|आवश्यकता) (?:नहीं|नही)(?: है)?|ज\u093c?रूरी (?:नहीं|नही)(?: है)?"
            r"|(?:को |की बात )?(?:भूल जा(?:ओ|इए|एँ|एं)|रहने (?:दो|दें|दीजिए)|छोड\u093c? ?(?:दो|दें|दीजिए)|छोड़(?:ो"
            "|िए))"
        ),
        (rf"(?<!काम )(?<!{LETTER})(?:नहीं|नही) (?=कर रह)", ""),
        (rf"(?<!{LETTER})(?:नहीं|नही) (?={LETTER}+(?:ूँगा|ूंगा|ूँगी|ूंगी|ेंगे)(?!{LETTER}))", ""),
    ),
    "hu": (
        _before(
            "nem (?:kérdezem|érdeklődöm|kérdeztem)|nehogy|eszem ágában sincs|nincs (?:ok|értelme)"
            r"|(?:úgy döntöttem,? )?(?:hogy )?nem(?= (?!tud|talál|lát|kap|ért|bír|ismer|emlék|műk)\w+(?:öm|om|em)\b)"
            "|nincs szükségem|felesleges|lemondok a|(?:soha|sosem|sose|nem)(?: is)? (?:kértem|kértük|mondtam"
            "|kérdeztem|akartam|akartuk)|inkább nem?|(?:nem szabad|nem muszáj|tilos)|senki ne|mégsem?(?! (?:érkez"
            "|jött|kap|működ|jön))|nem (?:áll(?:t)? )?(?:szándékom|szándékomban|tervezem|fogom)"
        ),
        _after(
            "felesleges|tilos|nem érdekel|eltekintek|nem (?:szükséges|kell|szabad|kérem|kérek|szeretném|szeretnék"
            "|akarom)"
        ),
    ),
    "id": (
        _before(
            "bukan (?:soal|tentang|mau|menanyakan|tanya)|tidak (?:sedang )?(?:bertanya|menanyakan)(?: soal"
            "| tentang)?|tidak ada (?:alasan|perlunya)(?: untuk)?|awas jangan|jangan coba-coba|(?:saya )?(?:batal"
            "|putuskan (?:untuk )?tidak|memutuskan (?:untuk )?tidak)(?= (?:me|minta|ganti))|tidak (?:tertarik"
            "|berniat|bermaksud)(?: untuk)?|tanpa perlu|(?:tidak|tak|nggak|enggak|gak|ga) (?:pernah )?(?:minta"
            "|meminta|bilang|menanyakan|tanya|bermaksud|berniat|boleh|harus)(?: agar| supaya| soal| tentang| untuk)?"
            "|lebih (?:suka|baik) (?:tidak|jangan)|bukan mau|dilarang"
        ),
        _after(
            "(?:dilarang|tidak penting)|(?:tidak|tak|nggak|enggak|gak|ga) (?:usah|perlu|diperlukan"
            "|dibutuhkan)(?: lagi)?"
        ),
        _off(r"pe[mnr]\w+an(?:nya)?", r"(?:tidak|nggak|enggak|gak|ga) jadi"),
    ),
    "it": (
        _before(
            "non (?:chied(?:o|evo)|parl(?:o|avo)|si tratta) (?:di|del|della|dell['’])|non sto (?:chiedendo"
            "|parlando)(?: di| del| della)?|che nessuno|non c['’]è (?:motivo|ragione|necessità) di|non (?:mi"
            "|ci) serv(?:e|ono)|nemmeno per sogno|(?:ho )?deciso di non|non (?:mi interessa|avevo intenzione di"
            "|volevo|intendevo)|rinuncio (?:a|al|alla|all['’])|non è vero che|è vietato|(?:preferirei|preferisco"
            "|meglio) (?:che )?non|nessuno deve|non (?:ho|avevo|abbiamo) (?:mai )?(?:chiesto|detto|domandato"
            "|voluto)(?: di| che)?|non (?:si deve|è (?:da|necessari[oa]|il caso di|obbligatorio)|c['’]è motivo di)"
        ),
        _after(
            "(?:è )?(?:vietat[oa]|inutile|superflu[oa])|non (?:mi interessa|era mia intenzione)|faccio a meno"
            "|non (?:mi )?(?:serv(?:e|ono)|occorre)(?: più)?|non (?:è|sono) (?:più )?necessari[oaei]"
        ),
        (r"^che non (?=\w)", "che "),
        (r"\bnon (?=va(?:nno)? \w+[aeiu]t[oaie]\b)", ""),
    ),
    "ja": (
        (r"(?:の話|のこと)?(?:では|じゃ)(?:ありません|ない(?:です)?|なくて)", ""),
        (r"(?:のこと|の件|の依頼)?は(?:無視して|撤回し|取り下げ)(?:ください|ます|たいです)?", ""),
        (r"(?:は)?そのまま(?:に|で)(?:して|お願いし)\w*", ""),
        (r"ないこと(?:に|と)(?:し|決め)\w+", "ることにしました"),
        (r"せずに", "して"),
        (r"しないまま(?:で)?", "して"),
        (
            r"(?:の(?:件|話))?(?:は)?(?:やっぱり)?(?:なし|無し|ナシ)(?:で|に|です)(?:お願いします|してください)?(?=$|[。!！])",
            "",
        ),
        (r"(?:は|を|のは)?(?:や|止)め(?:ておきます|ておく|とく|ときます|にします)|(?:は|を)?見送ります", ""),
        (r"(?<=[てで])は(?:困ります|困る|だめ|ダメ|駄目|いけません|なりません)(?:です)?", ""),
        (
            r"(?<=[^うくすつぬふむゆる])なくて(?:も)?(?:大丈夫|いい|良い|結構|構いません|かまいません)(?:です)?(?!か)",
            "て",
        ),
        (
            r"(?:なんて|など|とは|と|を|は)?(?:頼んで|お願いして|言って|聞いて|依頼して|希望して)"
            r"(?:い)?(?:ません|ない)(?:です)?|(?:と|を|は)?(?:頼んだ|言った|お願いした)覚えは(?:ない|ありません)",
            "",
        ),
        (r"(?:する)?(?:気|予定)は(?:ない|ありません)(?:です)?", "する"),
        (r"(?:のこと|の件)?は(?:忘れて(?:ください|下さい)?|結構(?:です)?)", ""),
    ),
    "ko": (
        (r"(?:을|를)? ?(?:물어본|말한|얘기한) (?:게|것이|건) ?아니[가-힣]*|(?:얘기|말)(?:가|이) ?아니[가-힣]*", ""),
        (r"(?<!\w)안 (?:해도|하셔도) ?(?:돼요?|됩니다|되[가-힣]*|괜찮[가-힣]*)", "해 주세요"),
        (r"(?:은|는|건)? ?(?:무시해|철회할|철회해|그대로 (?:둬|두|놔))[가-힣]*(?: 주세요)?", ""),
        (r"지 ?말고", "고"),
        (r"지 ?않(?:을래요|을게요|겠습니다|겠어요|기로 했[가-힣]*|을 거예요)", "고 싶어요"),
        (r"원치 ?않(?:아요|습니다)", "원해요"),
        (r"(?<!\w)안 (?=[가-힣]*(?:기로|기로요))", ""),
        (r"(?:은|는)? ?(?:금지|불필요)[가-힣]*", ""),
        (r" ?(?:하)?(?:려는|자는|달라는) ?(?:게|것이|건|거) ?아니[가-힣]*", ""),
        (r"(?:은|는)? ?없던 ?(?:일|걸|것)로(?: [가-힣]+)*", ""),
        (
            r"(?:을|를)? ?(?:달라고|하라고|하자고|해달라고)? ?"
            r"(?:한|말한|요청한|부탁한|물어본) 적(?:이|은)? ?없[가-힣]*",
            "",
        ),
        (r"하면 안 (?:됩니다|된다|되죠)", "해 주세요"),
        (r"(?:은|는|건) ?잊어 ?(?:주세요|버리세요|주십시오)", ""),
        (r"(?:할|할 ) ?(?:생각|마음|계획|의사)(?:이|은|도)? ?없[가-힣]*", "할래요"),
    ),
    "nb": _DANISH_AND_NORWEGIAN,
    "nl": (
        _before(
            "(?:vraag|praat) niet (?:naar|over|om)|het gaat (?:me )?niet (?:om|over)|er is geen reden om"
            "|waag het niet(?: om)?|geen haar op mijn hoofd die|(?:heb )?besloten (?:om )?niet te|zie af van"
            "|kan zonder|het is verboden(?: om)?(?: te)?|zit niet te wachten op|het is niet (?:nodig|noodzakelijk"
            "|de bedoeling)(?: om| dat)?|niemand (?:mag|moet)"
        ),
        _after(
            "(?:is )?(?:overbodig|verboden|onnodig)|was niet de bedoeling|heb ik niet nodig|hoeft niet(?: meer)?"
            "|interesseert me niet|(?:is|zijn) niet (?:meer )?(?:nodig|noodzakelijk|gewenst|vereist)|is van de baan"
            "|kan vervallen|vervalt"
        ),
        (r"\bgeen (.+?) (?:nodig|vereist)\b", r"\1"),
        (r"\b(?:nooit|niet) (?=(?:[\w-]+ ){0,6}?(?:gevraagd|gezegd|verzocht)\b)", ""),
        (r"\b(?:liever|aub|graag) geen\b", ""),
        (rf"^{FINITE_NL}{_PROBLEMS_NL}(.*\b(?:ik|we|wij)\b.*?) (?:toch (?:maar )?niet|liever niet)\b", r"\1"),
    ),
    "pl": (
        _before(
            "nie (?:pytam|chodzi(?: mi)?|mówię) o|ani (?:mi się śni|myślę)|nie ma (?:powodu|sensu|mowy o)(?: żeby"
            r"| by)?|niech nikt nie|postanowił\w+ nie|obejdę się bez|nie (?:interesuje mnie|miał\w+ zamiaru"
            r"|planował\w+)|zabrania(?:m|się)|rezygnuję z(?= (?!zamówieni)\w+(?:ni|ci)a\b)|(?:wol[ęe]|wolał(?:bym"
            "|abym)|lepiej) nie|nie (?:wolno|należy|ma potrzeby)|nikt nie (?:powinien|może|musi)"
            r"|(?:nigdy )?nie (?:prosił|mówił|pytał|chciał)\w*(?: o| żeby)?"
        ),
        _after(
            "(?:jest )?(?:zbędn[aey]|zabronion[ey]|zakazane)|mnie nie interesuje|nie (?:wchodzi w grę"
            r"|było moim zamiarem)|(?:już )?nie (?:jest|są|będzie) (?:już )?(?:potrzebn|konieczn)\w+|nie trzeba"
            "|(?:już )?niepotrzebn[aey]"
        ),
        _off(r"\w+ni[ea]|\w+cj[aę]|zwrot|zmian[aę]", r"(?:jest |już )?(?:odpada|nieaktualn[ea]|się nie liczy|cofam)"),
    ),
    "pt": (
        _before(
            "n[ãa]o (?:pergunt(?:o|ei)|falo|se trata|estou (?:a perguntar|perguntando|falando))(?: por| sobre"
            "| d[aeo])?|nem pens(?:e|em) em|n[ãa]o há (?:necessidade|motivo|razão) (?:de|para)|ningu[ée]m (?:mexe"
            "|toca) (?:em|na|no)|decidi n[ãa]o|n[ãa]o (?:tenho interesse em|era para|tinha intenção de|queria"
            r"|pretendia)|dispenso|desisti de(?= \w+[aei]r\b)|é proibido|(?:prefiro|preferia|preferiria"
            "|melhor) (?:que )?n[ãa]o|que ningu[ée]m|ningu[ée]m (?:deve|precisa)|(?:nunca|jamais|n[ãa]o) (?:pedi"
            "|disse|falei|perguntei|solicitei|tinha pedido)(?: para| pra| que| por)?|n[ãa]o (?:se )?(?:dev(?:e|em)"
            "|é (?:preciso|necessário|para))(?: que)?"
        ),
        _after(
            "(?:é |está )?(?:proibid[oa]|desnecessári[oa])|n[ãa]o (?:me interessa|era (?:a )?minha intenção)"
            "|n[ãa]o (?:é|são|será) (?:mais )?(?:necessári[oa]s?|precis[oa]s?)|n[ãa]o precis[ao](?: mais)?"
        ),
        (r"^que (?:n[ãa]o|nunca) (?=\w)", "que "),
    ),
    "ro": (
        _before(
            r"nu (?:întreb|am întrebat|vorbesc|e vorba) (?:de|despre)|nici să nu (?:vă|te) gând\w+ să"
            "|(?:până la urmă|totuși) nu|nu (?:există|e) (?:niciun )?motiv(?: să)?|nimeni să nu|(?:am )?decis să nu"
            "|nu (?:mă interesează|aveam de gând|intenționam)(?: să)?|mă descurc fără"
            r"|(?:am )?renunțat? la(?= \w+(?:rea|ția)\b)|este interzis(?: să)?|(?:prefer|prefera"
            "|mai bine)(?: ca)?(?: să| sa)? nu|nu (?:trebuie|e voie|aveți voie|e cazul|se cade)(?: să)?|(?:nu"
            "|n-)(?: ?)am (?:cerut|zis|spus|întrebat|vrut|solicitat)(?: niciodată)?(?: să| de| despre)?|nu (?:voiam"
            "|vroiam|am de gând|am intenția|intenționez)(?: să)?|nimeni (?:nu trebuie )?să(?: nu)?"
        ),
        _after(
            "(?:este |e )?(?:interzis[ăa]?|inutil[ăa]?)|nu mă interesează|nu (?:era|a fost) intenția mea"
            r"|nu (?:mai )?(?:e|este|sunt) (?:nevoie|necesar\w*|cazul)|nu (?:mai )?(?:îmi |mi-?)?trebuie"
        ),
    ),
    "ru": (
        _before(
            "не (?:спрашиваю|говорю) (?:про|об?)|(?:речь|дело) не (?:про|об?|в)|даже не думайте|не вздумай(?:те)?"
            "|пусть никто не|нет (?:смысла|причин|повода)|(?:вс[её]-таки|всё же) не|решил[аи]? не|(?:обойдусь"
            "|обойд[её]мся) без|не (?:собирал(?:ся|ась|ись)|планировал[аи]?|хотел[аи]?|имел[аи]? в виду)"
            "|отказываюсь от(?= (?:отмен|возврат|замен|удален|смен))|(?:нет|без) (?:необходимости|нужды|надобности)"
            "|(?:запрещаю|запрещено|незачем)|(?:лучше|предпоч(?:ё|е)л[аи]?(?: бы)?|предпочитаю)(?: бы)? не"
            r"|никто не долж[её]?н\w*|не должн[аоы]?|не должен|(?:никогда )?не (?:просил|говорил|спрашивал"
            "|упоминал)[аи]?(?: вас)?(?: про| об?)?|не хотелось бы"
        ),
        _after(
            "(?:запрещаю|запрещено|незачем|ни к чему|не интересует|нет (?:необходимости|нужды|смысла))|лишнее"
            "|излишне|не входило в мои планы|(?:уже |больше )?не (?:надо|нужн[аоы]|нужен|требуется|стоит|следует"
            "|хотелось бы|собираюсь|буду|планирую|хочу)"
        ),
        (r"(?<!почему )(?<!\w)нельзя (?=(?:\w+ ){0,2}?\w+[ая]ть\b)", ""),
        _off(r"\w+ни[ея]|отмена|замена|возврат", r"(?:отменяется|не считается|отпадает|не в счёт)"),
    ),
    "sk": _CZECH_AND_SLOVAK,
    "sv": (
        _before(
            "(?:frågar|pratar|handlar|gäller) inte(?: om)?|bad (?:er )?(?:inte|aldrig)(?: er)?(?: om)?(?: att)?"
            "|det finns ingen anledning(?: att)?|våga inte|rör inte|(?:bestämt mig för|beslutat)(?: att)? inte"
            "|slipper(?: gärna)?|klarar mig utan|är inte intresserad av(?: att)?|det är förbjudet att|tänkte inte"
            "|har (?:aldrig|inte) (?:bett|sagt|frågat|begärt)(?: er| dig)?(?: om)?(?: att)?|(?:helst|hellre) in(?:te"
            "|gen|get|ga)|det (?:är|var) inte (?:nödvändigt|meningen|tänkt)(?: att)?|ingen får"
        ),
        _after(
            "(?:är )?(?:förbjudet|onödigt?|överflödigt?)|intresserar mig inte|(?:behövs|krävs) inte(?: längre)?"
            r"|är inte (?:längre )?(?:nödvändig\w*|aktuell\w*)|(?:vill|ska|tänker|behöver) jag inte(?: ha)?"
        ),
        (r"\bing(?:en|et|a) (.+?) (?:behövs|krävs)\b", r"\1"),
        (r"\b(får)" + _WORDS + r" (?:inte|ej) (?=\w+as\b)", r"\1\2 "),
    ),
    "th": (
        (r"ลืมเรื่อง|ไม่(?:จำเป็นต้อง|ควร|คิดจะ|(?:ได้|เคย)(?:ขอ|บอก|สั่ง)(?:ให้)?)", ""),
        (r"ไม่จำเป็น(?:แล้ว|ค่ะ|ครับ)*", ""),
    ),
    "tr": (
        _after(
            "(?:hakkında |için )?(?:sormuyorum|bahsetmiyorum)|ile ilgili değil|(?:talebimi"
            "|isteğimi) geri (?:çekiyorum|alıyorum)|dikkate almayın|görmezden gelin|olduğu gibi kalsın|(?:yasak"
            "|lüzumsuz|istemem|niyetim yok|(?:a|e)?ya? gerek kalmadı|gibi bir niyetim yok)|(?:diye )?(?:demedim"
            "|istemedim|sormadım|söylemedim)(?: ki)?|gerek(?:li değil|siz|miyor|mez)|şart değil|lazım değil|(?:u "
            "|yi |yı |i |ı )?unutun(?:uz)?|boş ?ver(?:in)?|(?<=[ae]kt[ae]n )vazgeçtim"
        ),
        (r"\bsakın ", ""),
        (r"\b(\w+m[ae])m[ae]y[ae] karar verdim\b", r"\1k istiyorum"),
        (r"\b(et|sil|kapat|değiştir|gönder)m[iı]yor(?:um|uz)\b", r"\1mek istiyorum"),
        (r"\b(\w+?)m[ae](?=m[ae]l[iı]\b)", r"\1"),
    ),
    "uk": (
        _before(
            "не (?:питаю|кажу) про|(?:мова|йдеться) не про|не йдеться про|навіть не думай(?:те)?|не здумай(?:те)?"
            "|(?:нехай|хай) ніхто не|нема(?:є)? (?:сенсу|причин)|(?:все ж|все-таки) не|вирішил[аи] не|вирішив не"
            "|обійду(?:ся|сь) без|не (?:збирався|збиралася|планував|планувала|хотів|хотіла)|забороняю|заборонено"
            "|(?:немає|нема) (?:потреби|необхідності)|(?:краще|волі(?:ю|в|ла)(?: б| би)?) не"
            "|(?:ніколи )?не (?:просив|просила|просили|казав|казала|питав|питала)(?: вас)?(?: про)?|ніхто не повинен"
            "|не повинн?[аоіе]?н?|не хотілося б"
        ),
        _after(
            "(?:заборон(?:яю|ено)|нема(?:є)? (?:потреби|сенсу)|ні до чого|не (?:потрібне|цікавить))|зайве|(?:вже "
            "|більше )?не (?:потріб(?:ен|на|но|ні)|треба|варто|слід|збираю(?:ся|сь)|буду|хочу|планую)"
        ),
        (r"(?<!чому )(?<!\w)не можна (?=(?:\w+ ){0,2}?\w+[ая]ти\b)", ""),
        _off(r"\w+ння|зміна|відміна", r"(?:скасовується|не рахується|відпадає)"),
    ),
    "ur": (
        _after(
            "(?:کو )?(?:کبھی )?نہیں (?:کہا|مانگا|پوچھا)(?: تھا)?|(?:کی )?(?:کوئی )?ضرورت نہیں(?: ہے)?|رہنے (?:دیں|دو)"
        ),
    ),
    "vi": (
        _before(
            "không (?:hỏi|nói|phải) (?:về|chuyện)|(?:không )?ai (?:cũng )?(?:không )?được|đâu có (?:bảo|nói|nhờ"
            "|yêu cầu|hỏi|đòi|xin|muốn|cần)|không có lý do|cấm ai|giữ nguyên|quyết định không|không có ý định"
            "|không quan tâm (?:đến|tới)|mình? không cần|(?:chưa|không|chẳng)(?: có| hề| bao giờ| từng)* (?:yêu cầu"
            "|bảo|nói|nhờ|hỏi|đòi|có ý định|có ý|nên)(?: là| về)?|thà không|cấm|không nhất thiết phải"
        ),
        _after("thì thôi(?: nhé)?|là không cần|(?:là )?không cần(?: thiết)?(?: nữa| đâu)?"),
        (r"\b(?:đâu )?có (?:bảo|nói|nhờ|yêu cầu|hỏi|đòi)(?: là| về)? (.+?) đâu\b", r"\1"),
        (r"(?<!\w)không được (?=.*\b(?:nhé|nha|đấy|nghe)$)|(?<!\w)không (?!.*\bđược\b)(?=.*\w (?:nữa|đâu)$)", ""),
    ),
    "zh": (
        (r"(?:请)?(?:忽略|撤回|别管)(?:我的?|之前的?)?|(?:保持|维持)(?:不变|原样)", ""),
        (r"(?:就|都)?(?:免了|不用了|不必了)", ""),
        (r"(?:而|并)?不是(?:关于|问|指)|(?:而)?不是(?=取消|退|换|删|注销|改)", ""),
        (r"(?:请)?(?:不许|不准|不得|不可以?|禁止|严禁|切勿)(?=取消|退|删|改|换|买|注销|订|冻结|锁|停)", ""),
        (
            r"(?<=取消|注销|冻结|修改|更改|退货|退款|换货|删除|转接|预约|重置)(?:的?(?:这件)?事情?)?(?:就|还是)?算了吧?",
            "",
        ),
        (r"^(?=.*(?:改|退|换|删|订|取消))(.+?)(?:的?(?:这件)?事情?)(?:就|还是)?算了吧?", r"\1"),
        (r"(?:刚才|之前|刚刚)?我?说的?(.+?)的?(?:都)?(?:不算数?|作废)", r"\1"),
        (r"(?:并|从来)?(?:没有?|不是)(?:说|让|叫|要求|要|问|申请)(?:过|你们?)*(?:要)?(?=\w)", ""),
        (r"(?:就|还是)?不(?:必|需|需要)了", ""),
    ),
}
"""By language: patterns of a phrase that refuses, and what stands there without it. The first that matches counts."""


_NO = "no|nope|nein|non|nee|nej|nei|n[ãa]o|nie|нет|ні|όχι|hayır|nem|لا|לא|نه|नहीं|नही|không|tidak|nggak"
_SURELY_NOT = (
    "(?:certainly|absolutely|surtout|certainement|bestimmt|sicher|absolut|zeker) (?:not|pas|nicht|niet|inte|ikke)"
)


def _declined(no: str, please: str, behind: str | None = None) -> tuple[tuple[str, str], ...]:
    """Return the patterns of something that is politely declined: "no refund please", "a refund? no thanks"."""
    return (
        (rf"^(?:{no}) ?(\w.*?),? (?:{please})\W*$", r"\1"),
        (rf"^(.*{LETTER})[?,]? (?:{behind or no}),? (?:{please})\W*$", r"\1"),
        (rf"^(.*{LETTER}) ?\? (?:{LETTER}+,? )?(?:{_NO}|{_SURELY_NOT})\W*$", r"\1"),
    )


DECLINED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ar": _declined("بدون|بلا|لا", "من فضلك|لو سمحت|شكرا|رجاء"),
    "bg": _declined("без|никак\\w+", "моля|благодаря|мерси", "не"),
    "ca": _declined("sense|cap|res de", "si us plau|gràcies", "no"),
    "cs": _declined("bez|žádn\\w+", "prosím|díky|děkuji", "ne|nechci"),
    "da": _declined("uden|ingen|intet", "tak|venligst", "nej"),
    "de": _declined("ohne|(?:bloß |bitte )?keine?[nrms]?", "bitte|danke", "nein"),
    "el": _declined("χωρίς|κανένα\\w?|καμία|όχι", "παρακαλώ|ευχαριστώ"),
    "en": _declined("without(?: any| an?| the)?|no|not", "please|pls|plz|thanks|thank you|thx"),
    "es": _declined("sin|nada de|ning[uú]n[oa]?", "por favor|gracias|muchas gracias", "no"),
    "fa": _declined("بدون|هیچ", "لطفا|ممنون|مرسی", "نه"),
    "fi": _declined("ilman|ei", "kiitos"),
    "fr": _declined("sans|pas de|pas d['’]|aucune?", "s['’]il (?:vous|te) plaît|svp|stp|merci", "non"),
    "he": _declined("בלי|שום|לא", "בבקשה|תודה"),
    "hi": _declined("कोई", "धन्यवाद|शुक्रिया|कृपया", "नहीं|नही"),
    "hu": _declined("semmi(?:lyen)?", "kérem|köszönöm|köszi", "nem"),
    "id": _declined("tanpa|jangan|bukan", "ya|tolong|terima kasih|makasih", "tidak|nggak|jangan"),
    "it": _declined("senza|niente|nessun['’]?[oa]?", "grazie|per favore|per piacere", "no"),
    "nb": _declined("uten|ingen|ikke noe", "takk|vennligst", "nei"),
    "nl": _declined("zonder|geen", "graag|aub|alsjeblieft|alstublieft|bedankt|dank (?:je|u)", "nee"),
    "pl": _declined("bez|żadn\\w+", "proszę|dziękuję|dzięki", "nie"),
    "pt": _declined("sem|nada de|nenhuma?", "por favor|obrigad[oa]", "n[ãa]o"),
    "ro": _declined("fără|niciun\\w*|nicio", "vă rog|te rog|mulțumesc|mersi", "nu"),
    "ru": _declined("без|никак\\w+", "пожалуйста|спасибо", "нет|не надо"),
    "sk": _declined("bez|žiadn\\w+", "prosím|ďakujem|vďaka", "nie"),
    "sv": _declined("utan|ingen|inget|inga", "tack|snälla", "nej"),
    "tr": _declined("hiçbir", "lütfen|teşekkürler|sağ ?ol(?:un)?", "hayır|yok|olmasın"),
    "uk": _declined("без|ніяк\\w+|жодн\\w+", "будь ласка|дякую", "ні|не треба"),
    "vi": _declined("không", "cảm ơn|làm ơn"),
}
"""By language: patterns of a noun that is politely declined.

Without the courtesy it may describe a problem: "no refund yet".
"""
