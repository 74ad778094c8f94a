"""Shorthand of chats and text messages: "u" for "you", "pk" for "pourquoi".

The tables were compiled for this project from general knowledge of how people write; they are copied from no list. A
shorthand is a folded word that is no normal word of its language. Left out are
- words that messages to a shop or a bank hold: "atm" in English, "cb" (carte bancaire) in French, "plz" (Postleitzahl)
  in German, "btw" (VAT) in Dutch;
- words that careful writers use too: "asap", "wanna", "svp", "evtl";
- numbers: "2" for "to";
- words that lack only their accents.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from intentmatch.text.normalize import base_language, fold

DEFAULT = "default"
"""Key of an author's entries for every language."""

_TABLES = {
    "de": """
        aba aber, aufm auf dem, bidde bitte, biste bist du, danköö danke, eig eigentlich, eigtl eigentlich, gehts geht
        es, gibts gibt es, gn8 gute nacht, haste hast du, iwann irgendwann, iwas irgendwas, iwer irgendwer, iwie
        irgendwie, iwo irgendwo, jez jetzt, jtz jetzt, jz jetzt, kannste kannst du, kk ok, machste machst du, n8 nacht,
        nich nicht, oda oder, pls bitte, sry entschuldigung, thnx danke, thx danke, tnx danke, vg viele grüße, viell
        vielleicht, vllt vielleicht, vlt vielleicht, weisste weißt du, willste willst du, zb zum beispiel""",
    "en": """
        2day today, 2gether together, 2moro tomorrow, 2morow tomorrow, 2morrow tomorrow, 2mrw tomorrow, 2nite tonight,
        4ever forever, 4get forget, 4got forgot, 4u for you, abt about, accnt account, acct account, any1 anyone, appt
        appointment, b4 before, bc because, bcoz because, bcuz because, bcz because, bday birthday, becuz because, brb
        be right back, btw by the way, cld could, coz because, cud could, cuz because, cya see you, dat that, every1
        everyone, frm from, frnd friend, frnds friends, g2g got to go, gd good, gm good morning, gn good night, gr8
        great, gtg got to go, gud good, h8 hate, hbu how about you, hru how are you, hv have, hve have, idc i don't
        care, idk i don't know, imo in my opinion, kk ok, l8 late, l8r later, luv love, m8 mate, msg message, msgs
        messages, nbr number, np no problem, nvm never mind, nxt next, obv obviously, ofc of course, okie ok, pls
        please, plse please, plss please, plz please, plzz please, pmt payment, ppl people, probs probably, pw password,
        pwd password, pymt payment, r are, rly really, rn right now, shld should, shud should, some1 someone, soz sorry,
        srsly seriously, sry sorry, str8 straight, tbh to be honest, thanx thanks, thnx thanks, thru through, tht that,
        thx thanks, thxs thanks, tmoro tomorrow, tmr tomorrow, tmrw tomorrow, tnx thanks, tomoz tomorrow, tonite
        tonight, trx transaction, ttyl talk to you later, txn transaction, txt text, ty thank you, tysm thank you so
        much, u you, ur your, w8 wait, wat what, wbu what about you, whn when, whr where, wht what, wk week, wknd
        weekend, wks weeks, wld would, wru where are you, wud would, wut what, wyd what are you doing, xfer transfer, yw
        you're welcome""",
    "es": """
        aki aquí, bn bien, bno bueno, bss besos, cdo cuando, cmo cómo, cnd cuando, dnd donde, dnde donde, dps después,
        dsp después, grax gracias, grcs gracias, grx gracias, hla hola, k que, kien quién, kiero quiero, kmo cómo, msj
        mensaje, msjs mensajes, muxas muchas, muxo mucho, mxo mucho, mñn mañana, mñna mañana, nse no sé, nxe noche, plis
        por favor, pls por favor, plz por favor, porq porque, pq porque, q que, qiero quiero, qro quiero, salu2 saludos,
        sta está, stas estás, stoy estoy, tb también, tbn también, tfno teléfono, thx gracias, tkm te quiero mucho, tlf
        teléfono, tmb también, tmbn también, tqm te quiero mucho, vdd verdad, weno bueno, x por, xa para, xfa por favor,
        xfavor por favor, xk porque, xo pero, xq porque""",
    "fr": """
        2m1 demain, ajd aujourd'hui, auj aujourd'hui, bcp beaucoup, bi1 bien, biz bises, bjr bonjour, bsr bonsoir, chui
        je suis, chuis je suis, cmnt comment, cmt comment, dac d'accord, dacc d'accord, dak d'accord, dm1 demain, ds
        dans, dsl désolé, jms jamais, jpeux je peux, jsp je ne sais pas, jsuis je suis, jvais je vais, jveux je veux,
        kan quand, ke que, kel quel, kelle quelle, kesk qu'est-ce que, keske qu'est-ce que, ki qui, koi quoi, komen
        comment, lgtps longtemps, mnt maintenant, mrc merci, msg message, mtn maintenant, mtnt maintenant, nn non, pb
        problème, pblm problème, pbs problèmes, pck parce que, pcq parce que, pdt pendant, pk pourquoi, pls s'il vous
        plaît, plz s'il vous plaît, pq pourquoi, pr pour, psk parce que, ptet peut-être, qd quand, qqch quelque chose,
        qqn quelqu'un, qqun quelqu'un, rdv rendez-vous, ri1 rien, slt salut, stp s'il te plaît, tjrs toujours, tjs
        toujours, tkt ne t'inquiète pas, tps temps, tt tout, tte toute, vrmt vraiment""",
    "id": """
        aj saja, aja saja, ak aku, aq aku, ato atau, atw atau, belom belum, bgmn bagaimana, bgt banget, blm belum, blom
        belum, bngt banget, bnyk banyak, brp berapa, brpa berapa, bs bisa, bsa bisa, bsk besok, bsok besok, byk banyak,
        dg dengan, dgn dengan, dlm dalam, dmn di mana, dmna di mana, dpt dapat, dri dari, dtg datang, dtng datang, emg
        memang, engga tidak, enggak tidak, ga tidak, gak tidak, gk tidak, gmn bagaimana, gmna bagaimana, gt gitu, gtu
        gitu, gw saya, hr hari, hrs harus, jg juga, jga juga, jgn jangan, kalo kalau, karna karena, kl kalau, klo kalau,
        km kamu, kmrin kemarin, kmrn kemarin, kmu kamu, knp kenapa, knpa kenapa, kpan kapan, kpn kapan, krn karena, krna
        karena, kyk kayak, lg lagi, lgi lagi, lwt lewat, mkasih terima kasih, mksh terima kasih, mksih terima kasih, mlm
        malam, msh masih, msih masih, mw mau, ngga tidak, nggak tidak, org orang, pake pakai, pd pada, pgi pagi, pgn
        ingin, pke pakai, plis tolong, pls tolong, pngn ingin, sampe sampai, sdg sedang, sdh sudah, sj saja, skr
        sekarang, skrg sekarang, skrng sekarang, sm sama, smpe sampai, spt seperti, sy saya, sya saya, tdk tidak, tf
        transfer, thx terima kasih, tks terima kasih, tlg tolong, tlong tolong, tp tapi, tpi tapi, tq terima kasih, trf
        transfer, trims terima kasih, trs terus, trus terus, tsb tersebut, udah sudah, udh sudah, untk untuk, utk untuk,
        yg yang""",
    "it": """
        anke anche, asp aspetta, bn bene, cmnq comunque, cmq comunque, cn con, dmn domani, dp dopo, dv dove, grz grazie,
        ke che, ki chi, kome come, kosa cosa, msg messaggio, nn non, nnt niente, perke perché, pf per favore, pls per
        favore, plz per favore, prg prego, qcs qualcosa, qlc qualcosa, qlcn qualcuno, qlcs qualcosa, qll quello, qlla
        quella, qnd quando, qnt quanto, qst questo, qsta questa, qsto questo, risp rispondi, sn sono, thx grazie, tt
        tutto, tvb ti voglio bene, x per, xche perché, xchè perché, xché perché, xfavore per favore, xk perché, xke
        perché, xké perché, xo però, xò però""",
    "nl": """
        ajb alsjeblieft, effe even, effies even, egt echt, ff even, grtjs groetjes, grtz groetjes, gwn gewoon, hvl
        hoeveel, idd inderdaad, lkkr lekker, ltr later, misch misschien, mn mijn, mrgn morgen, msch misschien, mss
        misschien, ng nog, nie niet, nx niks, omda omdat, omdt omdat, pls alsjeblieft, plz alsjeblieft, thnx bedankt,
        thx bedankt, tnx bedankt, tog toch, vd van de, w8 wacht, wnneer wanneer, wnr wanneer, wrm waarom, wrs
        waarschijnlijk, wss waarschijnlijk""",
    "pl": """
        bd będę, chb chyba, dzk dzięki, dzs dziś, dzx dzięki, jtr jutro, napewno na pewno, narazie na razie, niechce nie
        chcę, niechcę nie chcę, niema nie ma, niemam nie mam, niemoge nie mogę, niemogę nie mogę, niewiem nie wiem, nw
        nie wiem, nwm nie wiem, odp odpowiedź, plis proszę, pls proszę, plz proszę, pozatym poza tym, pozdro pozdrawiam,
        pzdr pozdrawiam, sb sobie, spk spoko, tb tobie, thx dzięki, tyg tydzień, wgl w ogóle, wiad wiadomość, wogole w
        ogóle, wogóle w ogóle, zw zaraz wracam""",
    "pt": """
        agr agora, aki aqui, algm alguém, amnh amanhã, bj beijo, bjs beijos, blz beleza, cmg comigo, cmo como, ctg
        contigo, ctz certeza, dps depois, eh é, entaum então, fds fim de semana, flw falou, fzr fazer, hj hoje, kd cadê,
        kero quero, mds meu deus, msg mensagem, msgs mensagens, mt muito, mta muita, mtas muitas, mto muito, mtos
        muitos, n não, naum não, nd nada, ngm ninguém, obg obrigado, obgd obrigado, obgda obrigada, oq o que, pf por
        favor, pfv por favor, pfvr por favor, plis por favor, pls por favor, plz por favor, pq porque, q que, qdo
        quando, ql qual, qm quem, qnd quando, qndo quando, qnt quanto, qnto quanto, qro quero, qto quanto, qtos quantos,
        sdd saudade, sdds saudades, sla sei lá, tb também, tbm também, td tudo, tdo tudo, tds todos, tmb também, vc
        você, vcs vocês, vdd verdade, vlw valeu, xau tchau, ñ não""",
    "ru": """
        ваще вообще, вобще вообще, дратути здравствуйте, здрасте здравствуйте, здрасти здравствуйте, инфа информация,
        када когда, крч короче, кст кстати, мб может быть, нзчт не за что, ниче ничего, ничё ничего, норм нормально, оч
        очень, пасиб спасибо, пасибо спасибо, пж пожалуйста, пжл пожалуйста, пжлст пожалуйста, плз пожалуйста, плиз
        пожалуйста, плс пожалуйста, пожалста пожалуйста, пожалуста пожалуйста, прив привет, седня сегодня, скок сколько,
        скока сколько, спасиб спасибо, спс спасибо, спсб спасибо, счас сейчас, сёдня сегодня, тока только, токо только,
        хз не знаю, че что, чет что-то, чо что, чё что, чёт что-то, шо что, ща сейчас, щас сейчас""",
    "sv": """
        asså alltså, dej dig, eg egentligen, elr eller, imorn imorgon, imorrn imorgon, imorron imorgon, lr eller, mej
        mig, mkt mycket, mycke mycket, ngn någon, ngra några, ngt något, oxå också, pls snälla, plz snälla, sej sig, thx
        tack, tnx tack, tsm tillsammans, vf varför, vrf varför""",
    "tr": """
        bgn bugün, bi bir, bisey bir şey, bisi bir şey, bişey bir şey, bişi bir şey, bnm benim, bşy bir şey, cvp cevap,
        deil değil, dgl değil, diil değil, ediyom ediyorum, eyv eyvallah, eyw eyvallah, grsz görüşürüz, grşz görüşürüz,
        hyr hayır, ii iyi, inş inşallah, istiyom istiyorum, kib kendine iyi bak, ltf lütfen, ltfn lütfen, mrb merhaba,
        mrhb merhaba, msj mesaj, naber ne haber, napıyon ne yapıyorsun, napıyosun ne yapıyorsun, nbr ne haber, nrde
        nerede, nsl nasıl, nslsn nasılsın, nzmn ne zaman, pls lütfen, plz lütfen, saol sağ ol, slm selam, snn senin, thx
        teşekkürler, tlf telefon, tmam tamam, tmm tamam, tsk teşekkürler, tskler teşekkürler, tşk teşekkürler, tşkler
        teşekkürler, yrn yarın, zmn zaman, şmdi şimdi, şuan şu an""",
    "uk": """
        дяк дякую, плз будь ласка, пліз будь ласка, прив привіт, спс дякую, шо що, ща зараз, щас зараз""",
    "vi": """
        bik biết, dc được, hok không, ko không, lm làm, mk mình, mn mọi người, ngta người ta, ntn như thế nào, qá quá,
        sdt số điện thoại, sđt số điện thoại, thik thích, thx cảm ơn, tks cảm ơn, trc trước, wá quá, đc được""",
}


def _parsed(table: str) -> Mapping[str, str]:
    pairs = (entry.partition(" ") for entry in " ".join(table.split()).split(", "))
    return MappingProxyType({short: long for short, _, long in pairs})


SHORTHAND: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {language: _parsed(table) for language, table in _TABLES.items()}
)
"""Folded shorthand and what it stands for, by language code."""


def shorthand_of(language: str, own: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """Return the folded shorthand of a language, with an author's `own` entries by language before it.

    Entries of `own` under `default` are for every language. Regions and scripts share the table of their language: `pt`
    serves `pt-BR`. An entry that is read as it is written ("u" for "u") takes a word out of the table.
    """
    base = base_language(language)
    table = dict(SHORTHAND.get(base, {}))
    for code in sorted(own, key=lambda code: code != DEFAULT):
        if code == DEFAULT or base_language(code) == base:
            table.update((fold(short), long) for short, long in own[code].items())
    return {short: long for short, long in table.items() if short != fold(long)}
