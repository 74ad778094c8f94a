"""Words and parts of words that stand in every refusal, by language: for `intentmatch.text.refusals`."""

from __future__ import annotations

from collections.abc import Mapping

MARKS: Mapping[str, str] = {
    "ar": (
        "لا عدم لم ما مش مو لست انس انسَ انسى انسوا تجاهل تجاهلوا دعك دعكم بلاش ليس ليست غير ممنوع أفضل بدون بلا "
        "تجاهلو انسِ قررت لن وشأنه تراجعت أتراجع اتركوا اتركو أسحب خلوا كما إياكم إياك"
    ),
    "bg": (
        "не няма нямам недей недейте забрави забравете никой отпада предпочитам добре никак без забранено излишно "
        "както игнорирайте игнорирай оттеглям мира"
    ),
    "ca": "no oblida oblidat oblideu deixa deixat deixau ningú cap res sense prohibit licitud deixeu ignoreu ignora",
    "cs": "nechci nechceme nesmí nemusíte není netřeba zapomeňte neplatí",
    "da": (
        "ikke aldrig ingen lad lade undlad undgå glem dropp hellere helst bortfalder uaktuelt nej aldri uden intet "
        "slippe slipp forbudt klarer unødvendiget overflødiget unødvendigt unødvendige overflødigt overflødige "
        "unødvendig overflødig bortfaller uaktuel droppe forespørsel anmodning ignorer"
    ),
    "de": (
        "nicht kein keine keinen keiner keinem keines vergiss vergesst vergessen streich streicht streichen lass "
        "lasst lassen nie niemals niemand erledigt hinfällig tisch entfällt frage zurück nein bloss ohne "
        "entschieden verboten absehen überflüssig verzichte untersagt unnötig nehmen ziehen nehme ziehe behaltet "
        "ignorieren ignoriere ignoriert nichts"
    ),
    "el": (
        "δεν μη μην ξέχνα ξεχάστε ξέχασε δε καλύτερα προτιμώ κανείς απαγορεύεται κανένα κανέναν καμία όχι χωρίσ "
        "απαγορεύ περιττ όπωσ αφήστε άστε αγνοήστε αγνόησε αποσύρω ήσυχο ήσυχη ήσυχα"
    ),
    "en": (
        "not dont donot never no longer neednt wouldnt didnt mustnt shouldnt shallnt forget scrap scratch disregard "
        "nevermind retract isnt arent wasnt havent hadnt wont rather prefer nobody off question happening without "
        "doesnt skip prohibited forbidden unnecessary superfluous interested decided leave keep ignore said werent"
    ),
    "es": (
        "no olvida olvidad olvidate olvídate olvidese olvídese olvidaos olviden olvidense nadie nunca jamás jamas "
        "nada ningún ningun ninguna ni queda ninguno sin prohibido olvídense prescindo prohibida olvídaos descarto "
        "olvídad olvíden desisto desistí olvída déjenlo dejadlo más retiro omiso retracto ignoren ignorad ignora "
        "dejen dejad deja deje"
    ),
    "fi": (
        "en älä älkää ei alka ala unohda unohtakaa enkä antaa kukaan ilman kielletty emme kiellettyä kiellettya "
        "tarpeeton päätin turha huomiotta ennalleen rauhaan olla unohdetaan ettehän ethän"
    ),
    "fr": (
        "pas plus jamais rien point inutile oubliez oublions oublie laissez laisse personne aucun aucune non sans "
        "interdit passerais interdite superflue passerai superflu laisses renonce passer gardez garde ignorez "
        "ignores retire besoin question"
    ),
    "he": (
        "לא אל אינני אסור אין תשכח תשכחו תשכחי עזוב עזבו מעדיף מעדיפה עדיף שאף שום בלי מוותרת מוותר מעדיפהלא "
        "מעדיףלא עדיףלא מיותר שלא תשאיר תשאירו תשאירי תתעלמו התעלמו חזרתי"
    ),
    "hi": (
        "नहीं नही मत ना न भूल रहने छोड़ छोड छोड़ो छोड़िए कोई छोड़दीजिए छोडदीजिए छोड़दें छोडदें छोड़दो छोडदो बेकार मना नज़रअंदाज़ अनदेखा"
    ),
    "hu": (
        "ne nem nincs felejtsd felejtse felejtsék felejtsük hagyjuk tilos senki mégsem mégse sosem sose soha semmi "
        "semmilyen felesleges lemondok eltekintek hagyják visszavonom ahogy békén nehogy ágában"
    ),
    "id": (
        "usah tidak tak nggak gak ga enggak jangan jgn lupakan abaikan dilarang lebih bukan tanpa batal tarik biarkan"
    ),
    "it": (
        "non dimentica dimenticate dimentichiamo dimenticamo lascia lasciate lasciamo nessuno nessun nessuna niente "
        "no senza rinuncio vietato superfluo superflua vietata inutile faccio scordatevi ignorate ignora ritiro "
        "nemmeno"
    ),
    "nb": (
        "ikke aldri ingen la unngå glem dropp heller helst bortfaller uaktuell uaktuelt nei aldrig uten slippe "
        "slipp forbudt klarer unødvendiget overflødiget unødvendigt unødvendige overflødigt overflødige unødvendig "
        "overflødig bortfalder uaktuel droppe forespørsel anmodning ignorer"
    ),
    "nl": (
        "niet geen vergeet streep laat nooit niemand vervalt vervallen baan nee zonder verboden overbodig onnodig "
        "zie trek negeer"
    ),
    "pl": (
        "nie zapomnij zapomnijcie daj dajcie nikt niepotrzebna niepotrzebne niepotrzebny odpada nieaktualne "
        "nieaktualna cofam żaden żadna żadne żadnego żadnej żadnych żadn bez zabronione zabroniony zabraniam "
        "rezygnuję zakazane zbędna zbędne zbędny zostawcie zostaw wycofuję zignorujcie zignorować zignoruj myślę śni"
    ),
    "pt": (
        "não nao esquece esqueça esqueçam esqueca esquecam deixa deixem ninguém ninguem nunca jamais nada nenhum "
        "nenhuma nem esqueçe sem proibido deixam deixe desnecessário desnecessária proibida dispenso desisti "
        "desconsiderem desconsidera desconsidere ignorem ignora ignore retiro"
    ),
    "ro": (
        "nu n uită uita uitați uitati lasă lasa lăsați lăsati lasati fără fara nimeni niciun nicio necesar necesară "
        "nevoie cazul nuam interzis lasăți lasăti lasați renunțat renunța interzisă interzisa inutilă inutila "
        "inutil făra fară retrag renunțați ignorați ignoră renunț"
    ),
    "ru": (
        "не забудь забудьте никто нельзя отменяется отпадает нет никаких никак без запрещено запрещаю незачем "
        "отказываюсь излишне лишнее чему отзываю оставьте оставь проигнорируйте игнорируйте"
    ),
    "sk": "nechcem nechceme nesmie nemusíte netreba zabudnite",
    "sv": (
        "inte ej aldrig ingen inget inga låt undvik glöm strunta skippa nej utan förbjudet slipper överflödigt "
        "överflödig onödigt onödig behåll lämna tillbaka ignorera bortse"
    ),
    "uk": (
        "не забудь забудьте ніхто скасовується відпадає ні ніяких жодних жодного жодної будь ніяк жодн потреби "
        "необхідності без заборонено забороняю сенсу зайве спокої проігноруйте ігноруйте відкликаю залишіть залиште "
        "залиш причин"
    ),
    "ur": "نہیں مت نہ رہنے",
    "vi": "không ko k chẳng chưa đừng chớ khỏi quên bỏ thôi cấm thà đâu rút giữ",
}
"""By language: words of a folded text, one of which stands in every refusal. A language without words needs `PARTS`;
if it has both, the words only tell which language it is."""

_PARTS_CZECH_AND_SLOVAK = (
    "n[ei]|zapom|zabud|vykašl|žádn|žiadn|odpad|ber(?:u|iem)|bez|nech|ignoruj|stahuj|nikd|nikt|nic|zakáz|zbyteč"
    "|zaobíd|obejd"
)
PARTS: Mapping[str, str] = {
    "cs": _PARTS_CZECH_AND_SLOVAK,
    "fa": "ن|خیال|پس می",
    "ja": (
        "たく|ない|ほしく|欲しく|つもり|ません|なくて|不要|な[しい]|無し|ナシ|[や止]め|見送|困"
        "|[だダ駄][めメ目]|忘れ|結構|せず|そのまま|無視|撤回|取り下げ"
    ),
    "ko": "지|안 |않|없|아니|잊|금지|불필요|무시|철회|그대로",
    "sk": _PARTS_CZECH_AND_SLOVAK,
    "th": "ไม่|อย่า|ห้าม|ลืมเรื่อง",
    "tr": (
        "m[aeiı]|istem|gerek|sorm|söylem|değil|unut|bo[sş] ?ver|vazgeç|hayır|yok|hiçbir"
        "|yasak|geri|dikkate|görmezden|kalsın|lüzumsuz"
    ),
    "zh": "不|没|无需|请勿|别|別|勿|算了|作废|禁|免了|忽略|撤回|保持|维持",
}
"""By language with affixes or without spaces: a pattern that is part of every refusal."""
