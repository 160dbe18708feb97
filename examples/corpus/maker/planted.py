"""Invented records: copies, personal data, look-alikes, junk, odd values, odd Unicode.

Nothing here belongs to a person: mail and hosts are of the domains and address blocks
that are reserved for documentation, cards are the test numbers that card processors
publish, keys are spelt out as examples and joined from parts.
"""

import random

# Personal data, and what must stand in its place.
MASKED = [
    ("anna.lind@example.com", "[EMAIL]"),
    ("first_last+tag@mail.example.org", "[EMAIL]"),
    ("<q.r-s@example.net>", "<[EMAIL]>"),
    ("UPPER.CASE@EXAMPLE.COM", "[EMAIL]"),
    ("(office@example.org)", "([EMAIL])"),
    ("mailto:desk@sub.example.com,", "mailto:[EMAIL],"),
    ("4111 1111 1111 1111", "[CARD]"),
    ("5555-5555-5555-4444", "[CARD]"),
    ("378282246310005", "[CARD]"),
    ("3714 496353 98431", "[CARD]"),
    ("6011111111111117", "[CARD]"),
    ("30569309025904", "[CARD]"),
    ("3530111333300000", "[CARD]"),
    ("2223003122003222", "[CARD]"),
    ("4222222222222", "[CARD]"),
    ("192.0.2.17", "[IP]"),
    ("198.51.100.255,", "[IP],"),
    ("203.0.113.0/24", "[IP]/24"),
    ("192.0.2.1:8080", "[IP]:8080"),
    ("http://198.51.100.7/index", "http://[IP]/index"),
    ("2001:db8::1", "[IP]"),
    ("2001:db8:0:0:0:0:0:1", "[IP]"),
    ("2001:DB8:85a3::8a2e:370:7334", "[IP]"),
    ("[2001:db8::2]:443", "[[IP]]:443"),
    ("::ffff:192.0.2.128", "[IP]"),
    ("ghp_" + "EXAMPLEexampleEXAMPLEexample01234567", "[API_KEY]"),
    ("hf_" + "EXAMPLEexampleEXAMPLEexample012345", "[API_KEY]"),
    ("sk-" + "EXAMPLEexampleEXAMPLEexample0123456789", "[API_KEY]"),
    ("glpat-" + "EXAMPLEexample012345", "[API_KEY]"),
    ("AKIA" + "EXAMPLE0EXAMPLE1", "[API_KEY]"),
]

# What looks like personal data to a loose pattern and is none.
LOOKALIKES = [
    "256.1.1.1", "999.9.9.9", "v1.2.3.4", "1.2.3.4.5", "3.14159265358979", "10.4.0-rc1",
    "12:30:45", "2024-01-01T12:00:00", "2024-01-01T12:00:00.123Z", "00:1b:44:11:3a:b7",
    "std::string", "a::b", "47223179-9330-4259-b66c-d25b4ad9a0a5", "1748503543012",
    "4111 1111 1111 1112", "4111-1111 1111-1111", "6011577631711175",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709", "skateboarding-is-so-much-fun",
    "@example.com", "name@localhost", "foo@bar..com", "555-1234", "(555) 123-4567",
    "978-3-16-148410-0", "sk-short", "ghp_tooshort",
]

# Sentences around the two lists above.
FRAMES = [
    "Please send the signed form to {} before Friday noon.",
    "In the log of the third night {} stood again, between two lines that nobody could explain.",
    "Bitte notieren Sie {} und legen Sie den Zettel danach zurück in die Schublade.",
    "La note disait simplement {} sans autre explication pour le lecteur.",
    "В письме было указано {} и больше ничего интересного там не нашлось.",
    "この記録には {} と書かれて いましたが、 その理由は 誰にも わかりません でした。",
    "كتب الموظف {} في الصفحة الأولى ثم أغلق الدفتر وعاد إلى بيته.",
    "הפקיד רשם {} בעמוד הראשון ואחר כך סגר את המחברת וחזר לביתו.",
    "रिपोर्ट में {} लिखा था और आगे कोई जानकारी नहीं दी गई थी।",
    "보고서에는 {} 라고 적혀 있었고 그 밖의 설명은 전혀 없었습니다.",
]

# Text that must be kept as it stands: scripts and code points that a careless hand would change.
ODD = [
    ("fullwidth", "全角の記号 ，。 と数字 １２３ は そのまま 残ります ね、 直しては いけません。"),
    ("compatibility", "The ideographs \ufa67 and \u9038 differ, and so do \ufb01 and fi, \u212b and \u00c5, \u2460 and 1."),
    ("nfc", "Caf\u00e9 cr\u00e8me et d\u00e9j\u00e0 vu, \u00e9crits avec des lettres compos\u00e9es."),
    ("nfd", "Cafe\u0301 cre\u0300me et de\u0301ja\u0300 vu, e\u0301crits avec des lettres compose\u0301es."),
    ("lone-mark", "A mark without its letter, \u0308 like this one, is text all the same."),
    ("zalgo", "Ma\u0336n\u0337y m\u0338arks on a few\u0334 letters are still a line of text."),
    ("zero-width", "zero\u200bwidth space, zero\u200cwidth non\u200djoiner and a word\u2060joiner inside."),
    ("bom-inside", "A byte order mark \ufeff in the middle of a text is not a mark of order."),
    ("bom-first", "\ufeffA byte order mark in front of the text itself is part of the text."),
    ("bidi", "Embedded \u202bright to left\u202c and isolated \u2067text\u2069 with their controls."),
    ("nul", "A NUL \u0000 in the middle of a text is a character like others, and \u0001\u001f too."),
    ("replacement", "Some text that was broken \ufffd long before it came to this place \ufffd\ufffd."),
    ("noncharacter", "The noncharacters \uffff and \ufdd0 are allowed in a string of JSON."),
    ("unit-separator", "\u001cThe separators of ASCII are not white space to Unicode, so they stay.\u001f"),
    ("mongolian", "\u180eThe Mongolian vowel separator has not been white space since Unicode 6.3."),
    ("inner-space", "Spaces  inside \t of the text,\u00a0\u3000 of any kind,\u2028 are nobody's business."),
    ("emoji", "The family \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466, a thumb \U0001f44d\U0001f3fd and the flag \U0001f1e9\U0001f1ea went on a long journey."),
    ("keycap", "Press the keys 1\ufe0f\u20e3 and #\ufe0f\u20e3 one after the other, then wait a while \u231b\ufe0f for it."),
    ("astral", "Gothic \U00010330\U00010331\U00010332 and mathematical \U0001d400\U0001d401 letters, \U00020000\U00020001 rare ideographs."),
    ("hebrew", "בתחילה כתבנו את המדריך בעברית פשוטה, ואחר כך הוספנו לו כמה דוגמאות קצרות."),
    ("yiddish", "די אַלטע ביכער שטייען אויף דער פּאָליצע לעבן פֿענצטער שוין צענדליקער יאָרן."),
    ("arabic", "يبدأ الكتاب بمقدمة قصيرة، ثم ينتقل إلى شرح الأدوات التي يحتاج إليها القارئ."),
    ("urdu", "یہ کتاب بہت آسان زبان میں لکھی گئی ہے تاکہ ہر کوئی اسے پڑھ سکے۔"),
    ("thai", "คู่มือเล่มนี้เขียนขึ้น สำหรับผู้เริ่มต้น และมีตัวอย่างสั้น ๆ ให้ลองทำตาม"),
    ("georgian", "ეს სახელმძღვანელო დამწყებთათვის დაიწერა და მოკლე მაგალითებს შეიცავს."),
    ("armenian", "Այս ձեռնարկը գրված է սկսնակների համար և պարունակում է կարճ օրինակներ։"),
    ("amharic", "ይህ መመሪያ ለጀማሪዎች የተጻፈ ሲሆን አጫጭር ምሳሌዎችን ይዟል።"),
    ("chinese", "这本 手册 是 为 初学者 写的， 里面 有 一些 简短 的 例子 可以 试试。"),
    ("mixed", "One line, drei Sprachen, три письма, 四つの 文字, أربع كلمات and \u2603 a snowman."),
]

# Text that cleaning changes: what stands around it goes, line ends become one.
CLEANED = [
    ("spaces", " \t Space in front and behind is cut off, as are empty lines. \n\n "),
    ("unicode-spaces", "\u3000\u2003\u00a0\u0085Every white space of Unicode is cut off at both ends.\u2029\u1680\u202f\u205f"),
    ("crlf", "The first line,\r\nthe second line,\r\nand the last one.\r\n"),
    ("cr", "Old line ends\rbecome new ones,\r\rand two of them two."),
    ("cr-crlf", "Odd line ends \r\r\n make two lines, not one and not three."),
    ("zero-width-first", "\u200b Zero width space is not white space, so the blank behind it stays."),
]

# Junk, each with the bound that must stop it, or what only looks so.
JUNK = [
    ("empty", "", "min_chars"),
    ("blank", " \t\r\n \u3000 ", "min_chars"),
    ("short", "Too short a text.", "min_chars"),
    ("19-chars", "nineteen characters", "min_chars"),
    ("19-wide", "一二三 四五六 七八九 十百千 万億兆", "min_chars"),
    ("one-word", "x" * 40, "min_words"),
    ("two-words", "incomprehensibilities notwithstanding", "min_words"),
    ("no-spaces", "日本語の文章には空白がないので単語の数は一つになります。", None),  # by white space one word
    ("hostile-mail", "a@a." * 4096, "min_words"),
    ("hostile-dots", "1.1.1." * 2048, "min_words"),
    ("hostile-colons", "::" * 4096, "min_words"),
    ("symbols", "!!! ??? ### $$$ %%% &&& *** ((( ))) === +++", "max_symbol_ratio"),
    ("rules", "---------- ========== __________ ~~~~~~~~~~", "min_entropy"),
    ("a-b", "a b a b a b a b a b a b a b a b a b", "min_entropy"),
    ("same", "the the the the the the the the the the the", "min_entropy"),
    ("chant", "buy cheap watches now " * 12, "max_repetition"),
    ("chorus", "hier kommt der Mond, dort geht die Sonne " * 3, "max_repetition"),
    ("box", "┌──────┐ ┌───┐ │ name │ │ age │ └──────┘ └───┘ ▲▼◆ ●○◎ ★☆", "max_symbol_ratio"),
    ("emoji-only", "😀😃 😄😁😆 😅🤣😂 🙂🙃 😉😊😇 🥰😍🤩 😘😗", "max_symbol_ratio"),
    ("code", "{[(<>)]}; a+=b; c!=d; e<<=2; *f++ = &g[h]; // ->", "max_symbol_ratio"),
    ("marks", "\u0301\u0302 \u0303\u0304 \u0305\u0306 \u0307\u0308 \u0309\u030a \u030b\u030c \u030d\u030e", "max_symbol_ratio"),
    ("replacements", "\ufffd\ufffd\ufffd broken \ufffd\ufffd text \ufffd\ufffd\ufffd here \ufffd\ufffd and \ufffd\ufffd", "max_symbol_ratio"),
]

# Kept, because it stands exactly on a bound.
ON_THE_BOUND = [
    ("20-chars", "exactly twenty chars"),
    ("3-words", "extraordinarily uncomplicated sentence"),
    # 3 symbols among 10 characters that are no space, four times over.
    ("symbols-0.30", "abcdefg... hijklmn!!! opqrstu??? vwxyzab;;;"),
    # 22 words, 20 triples, 13 of them distinct: 7/20 are repeats.
    ("repetition-0.35", "alpha bravo charlie delta echo foxtrot golf hotel india alpha bravo charlie delta echo "
     "foxtrot golf hotel india juliet kilo lima mike"),
]


def records(prose):
    """Returns all planted records, those made of prose too."""
    return fixed() + odd_json() + copies(prose) + long_lines(prose)


def fixed():
    """Returns the records written out above: id, text and, for most, want.

    want is what a careful reader expects: the text that is kept, or the name of the bound
    that stops it. expect.py holds the model to it.
    """
    out = []

    def add(id, text, **more):
        out.append({"id": id, "text": text, **more})

    n = len(FRAMES)
    for i, (piece, masked) in enumerate(MASKED):
        for k in range(3):
            frame = FRAMES[(i + 3 * k) % n]
            add(f"pii/{i:02}/{k}", frame.format(piece), want=frame.format(masked))
    for i, piece in enumerate(LOOKALIKES):
        for k in range(2):
            text = FRAMES[(i + 3 * k) % n].format(piece)
            add(f"lookalike/{i:02}/{k}", text, want=text)
    add("pii/many", "Ask anna.lind@example.com or bob@example.org at 192.0.2.9, pay with 4111 1111 1111 1111, thanks.",
        want="Ask [EMAIL] or [EMAIL] at [IP], pay with [CARD], thanks.")
    # Equal only once masked: both stay, as deduplication comes first.
    for who in ("carla", "dieter"):
        add(f"pii/alike/{who}", f"The only difference of the two records is {who}@example.com in the middle.",
            want="The only difference of the two records is [EMAIL] in the middle.")

    for name, text in ODD:
        add(f"odd/{name}", text, want=text)
    for name, text in CLEANED:
        add(f"cleaned/{name}", text)
    for name, text, bound in JUNK:
        add(f"junk/{name}", text, want=bound or text)
    add("junk/short/again", "Too short a text.", want="min_chars")  # never reaches deduplication
    for name, text in ON_THE_BOUND:
        add(f"bound/{name}", text, want=text)

    return out


def odd_json():
    """Lines whose JSON is the matter: nulls, numbers, nesting, missing and repeated keys."""
    return [
        {"raw": '{"id":"null/1","text":null}'},
        {"raw": '{"id":"null/2","text":null}'},
        {"raw": '{"id":"null/empty","text":""}'},
        {"raw": '{"id":"value/int","text":12345678901234567890}'},
        {"raw": '{"id":"value/float","text":1.50}'},
        {"raw": '{"id":"value/exponent","text":1e3}'},
        {"raw": '{"id":"value/true","text":true}'},
        {"raw": '{"id":"value/false","text":false}'},
        {"raw": '{"id":"value/array","text":["An array as text","is written","as compact JSON",1,null]}'},
        {"raw": '{"id":"value/object","text":{ "zebra" : "keys come sorted" , "apple" : ["and","without spaces"] }}'},
        {"raw": '{"text":"This record has no id, so its place in the file becomes one."}'},
        {"raw": '{"id":null,"text":"An id that is null is the same as none at all."}'},
        {"raw": '{"id":1001,"text":"The id of this record is a number, kept as it is written."}'},
        {"raw": '{"id":"twice/first","text":"The first text of two is not it.","id":"twice","text":"Of two equal keys the last one counts."}'},
        {"raw": '  {  "meta" : { "text" : "no", "id": "no" } , "text" : "Space between tokens means nothing at all." , "id" : "spaced"  }  '},
        {"raw": '{"\\u0069d":"escaped/key","te\\u0078t":"A key may be written with escapes like any string."}'},
        {"raw": '{"id":"escapes","text":"Escapes: \\"quote\\" \\\\ \\/ \\b\\f\\t\\u00e9 \\ud83d\\ude00 and plain letters in between."}'},
        {"raw": '{"id":"decoy","note":"\\"text\\":\\"not this one\\"","text":"A string that looks like a key is still a string."}'},
        {"raw": '{"id":"aside","note":"\\ud800","text":"Half a surrogate pair beside the text is nobody\'s loss."}'},
        {"raw": '{"id":"deep","meta":' + "[" * 60 + "]" * 60 + ',"text":"Brackets sixty deep beside the text do no harm."}'},
    ]


def copies(prose):
    """Records equal to one of prose, some only once they are clean."""
    rng = random.Random(7)
    one_line = [r for r in prose if "\n" not in r["text"]]
    lines = [r for r in prose if r["text"].count("\n") > 3 and not r["id"].startswith("licence")]
    out = []
    for r in rng.sample(one_line, 60):
        out.append({"id": "copy/exact/" + r["id"], "text": r["text"]})
    for r in rng.sample(one_line, 20):
        for k in range(2):
            out.append({"id": f"copy/twice/{k}/" + r["id"], "text": r["text"]})
    for r in rng.sample(one_line, 30):
        out.append({"id": "copy/spaces/" + r["id"], "text": "\u00a0 " + r["text"] + " \t\n"})
    for r in rng.sample(lines, 30):
        out.append({"id": "copy/crlf/" + r["id"], "text": r["text"].replace("\n", "\r\n") + "\r\n"})
    for r in rng.sample(lines, 10):
        out.append({"id": "copy/cr/" + r["id"], "text": r["text"].replace("\n", "\r")})
    # Not copies: one character or one case differs.
    for r in rng.sample(one_line, 10):
        out.append({"id": "near/dot/" + r["id"], "text": r["text"] + "."})
    return out


def long_lines(prose):
    """Lines of some 100 KB: prose, and prose with a tail that a quadratic pattern would choke on."""
    english = [r["text"] for r in prose if r["id"].startswith(("jargon", "gnome-help/C"))]
    body = "\n\n".join(english[:260])[:100_000]
    return [
        {"id": "long/prose", "text": body},
        {"id": "long/hostile", "text": "\n\n".join(english[260:440])[:60_000] + " " + "a@a." * 5000},
    ]
