#!/usr/bin/env python3
"""Records what datatrove makes of a thousand texts.

Needs Python 3.11, the command zstd and

    pip install 'datatrove[processing]==0.10.1' spacy==3.8.18

Run it in this folder: record.py writes records.jsonl.gz. Its texts are prose of
../../../../examples/corpus, whose LICENSES.md holds for them, and generated ones.

A line has id, text and, for each rule set:

    gopher, gopher_space, fineweb, fineweb_space: {"reason": …, metrics …}
    c4: {"reason": …, "kept": the text that is left if it is another, metrics …}

reason is that of datatrove, "" where the text stays; an exception is its reason
too. _space are recorded with words divided by white space only.
"""

import gzip
import json
import random
import re
import subprocess

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)
from datatrove.pipeline.filters import c4_filters
from datatrove.pipeline.filters import gopher_repetition_filter as repetition
from datatrove.utils.text import PUNCTUATION_SET, TERMINAL_PUNCTUATION, split_into_sentences, split_into_words
from datatrove.utils.word_tokenizers import WordTokenizer

CORPUS = "../../../../examples/corpus/"


class Space(WordTokenizer):
    """Words are divided by white space."""

    def word_tokenize(self, text):
        return text.split()

    def sent_tokenize(self, text):
        raise NotImplementedError

    def span_tokenize(self, text):
        raise NotImplementedError


TOKENIZERS = {"": "eng", "_space": Space()}


# The texts.


def prose():
    """Texts of the examples, by language."""
    out = {}
    for name in ("part-00.jsonl.zst", "part-01.jsonl.gz"):
        tool = "zstd" if name.endswith("zst") else "gzip"
        data = subprocess.run([tool, "-dc", CORPUS + name], capture_output=True, check=True).stdout
        for line in data.decode("utf-8-sig", "replace").splitlines():
            try:
                record = json.loads(line.lstrip("\ufeff"))
            except ValueError:
                continue
            key, text = record.get("id"), record.get("text")
            if not isinstance(key, str) or not isinstance(text, str):
                continue
            match = re.match(r"(gnome-help|debian-handbook|jargon)/([^/]*)", key)
            if match:
                language = "C" if match[1] == "jargon" else match[2]
                out.setdefault(language, []).append((key, text))
    return out


def texts(rng):
    """All ids and texts."""
    by_language = prose()
    english = by_language.pop("C") + by_language.pop("en-US")
    for key, text in english[:260]:
        yield "english/" + key, text
    for i in range(260, 360, 2):
        pair = english[i : i + 2]
        yield "joined/" + pair[0][0], rng.choice(["\n", "\n\n", "\r\n"]).join(text for _, text in pair)
    for i in range(60):  # cut into lines, as pages of the web are
        words = " ".join(text for _, text in rng.sample(english, 3)).split()
        width = rng.choice([3, 8, 15])
        yield f"lines/{i}", "\n".join(" ".join(words[j : j + width]) for j in range(0, len(words), width))
    for i in range(60):  # one sentence a line
        words = " ".join(text for _, text in rng.sample(english, 3))
        yield f"sentences/{i}", "\n".join(re.split(r"(?<=[.!?]) +", words))
    for language in sorted(by_language):
        for key, text in by_language[language][:9]:
            yield "language/" + key, text
    yield from planted(rng, [text for _, text in english])


def planted(rng, english):
    """Texts on both sides of each bound, and odd ones."""
    plain = [w for w in re.findall(r"[a-z]{3,9}", " ".join(english[:200])) if w not in STOP]
    plain = sorted(set(plain))

    def words(n, length=None):
        pool = [w for w in plain if length is None or len(w) == length]
        return [rng.choice(pool) for _ in range(n)]

    def distinct(n):
        return rng.sample(plain, n)

    def body(n):
        return "the " + " ".join(distinct(n - 2)) + " of"

    for n in (49, 50, 51):
        yield f"words/{n}", body(n)
    for n in (99_999, 100_000, 100_001):
        yield f"words/{n}", "the of" + " word" * (n - 2)
    for n in (2, 3, 4, 9, 10, 11):
        yield f"word-length/{n}", " ".join("the of".split() + ["".join(rng.choices("bcdfg", k=n)) for _ in range(120)])
    for n in (9, 10, 11, 12, 13):
        yield f"hashes/{n}", body(100) + " #" * n
        yield f"ellipses/{n}", " ".join(w + "…" if i < n else w for i, w in enumerate(body(100).split()))
        yield f"dots/{n}", " ".join(w + "..." if i < n else w for i, w in enumerate(body(100).split()))
    for n in (8, 9, 10):
        yield f"bullets/{n}", "\n".join(("- " if i < n else "") + body(12) for i in range(10))
        yield f"round-bullets/{n}", "\n".join(("  • " if i < n else "") + body(12) for i in range(10))
    for n in (2, 3, 4):
        yield f"ellipsis-lines/{n}", "\n".join(body(20) + ("... " if i < n else ".") for i in range(10))
        yield f"ellipsis-sign-lines/{n}", "\n".join(body(20) + ("…" if i < n else ".") for i in range(10))
    for n in (18, 19, 20, 21, 22, 25):
        yield f"numbers/{n}", " ".join(body(100 - n).split() + [str(i * 7919) for i in range(n)])
    for n in range(4):
        yield f"stop-words/{n}", " ".join(["the", "with", "that"][:n] + distinct(80))
    for case in ("The Of And", "the the the", "the, of;"):
        yield f"stop-words/{case}", " ".join([case] + distinct(80))
    for n in (1, 2, 3, 4, 5):
        lines = [body(8) for _ in range(10 - n)]
        yield f"duplicate-lines/{n}", "\n".join(lines + lines[:n])
        yield f"duplicate-paragraphs/{n}", "\n\n".join(lines + lines[:n])
        short = [body(20) for _ in range(10 - n)] + ["a b"]
        yield f"duplicate-short-lines/{n}", "\n".join(short + ["a b"] * n)
        yield f"duplicate-short-paragraphs/{n}", "\n\n".join(short + ["a b"] * n)
        yield f"duplicate-long-line/{n}", "\n".join([body(8 * n)] * 2 + [body(8) for _ in range(30)])
        yield f"duplicate-long-paragraph/{n}", "\n\n".join([body(8 * n)] * 2 + [body(8) for _ in range(30)])
    for n in (2, 3, 4):
        for k in (4, 6, 7, 8, 9, 10, 12):
            gram, rest = words(n, 6), distinct(120)
            for i in range(k):
                rest[i * 9] = " ".join(gram)
            yield f"top-{n}/{k}", "the of " + " ".join(rest)
    for n in range(5, 11):
        for k in (1, 2, 3, 4):
            rest = distinct(60 + n)
            out = rest[:]
            for i in range(k):
                out += rest[i : i + n] + distinct(2)
            yield f"duplicate-{n}/{k}", "the of " + " ".join(out)
    for n in (3, 5, 6, 11, 40):
        yield f"periodic/{n}", "the of " + " ".join(distinct(n) * (400 // n))
        yield f"nearly-periodic/{n}", "the of " + " ".join(w for _ in range(20) for w in distinct(n)[:1] + ["same", "words", "again"])

    good = "This line has enough words for the rules, and it ends well."
    for n in (3, 4, 5, 6):
        yield f"c4-sentences/{n}", "\n".join(f"Number {w} is a sentence." for w in distinct(n))
        yield f"c4-sentences-in-line/{n}", " ".join(f"Number {w} is a sentence." for w in distinct(n))
    for key, line in {
        "javascript": "Please enable JavaScript in your browser to go on.",
        "java-script": "Please enable Java Script in your browser to go on.",
        "policy": "Read our Privacy Policy before you go on.",
        "terms": "These are the terms of use of this page.",
        "cookies": "This page uses cookies to know you.",
        "use-of-cookies": "We tell of the use of cookies here.",
        "cookie": "She ate the cookie with milk.",
        "lorem": "Lorem ipsum dolor sit amet.",
        "lorem-unpunctuated": "Lorem ipsum dolor sit amet",
        "curly": "function f() { return 1; }.",
        "curly-unpunctuated": "function f() { return 1; }",
        "two-words": "Two words.",
        "three-words": "Here three words.",
        "no-punctuation": "This line ends with nothing at all",
        "quote": 'She said that "it ends with a quote"',
        "apostrophe": "It ends with an apostrophe'",
        "round-quote": "It ends with a round “quote.”",
        "bracket": "It ends with a bracket (as here.)",
        "ellipsis": "It ends with three dots...",
        "ellipsis-sign": "It ends with a sign for that…",
        "question": "Does it end with a question?",
        "exclamation": "It ends with an exclamation!",
        "colon": "It ends with a colon:",
        "citation": "It has a citation[12] and[edit] some[citation needed] more[].",
        "citation-end": "It has a citation at its end.[3]",
        "citation-not": "It has [brackets] that [1a] stay.",
        "citation-nested": "It has [[1]] in brackets.",
        "long-word": "It has a word of " + "x" * 1000 + " letters.",
        "longer-word": "It has a word of " + "x" * 1001 + " letters.",
        "longest-word": "It has a word of " + "é" * 1001 + " letters.",
        "spaces": "   It is indented and has space behind.   ",
        "blank": "   ",
        "empty": "",
        "initials": "J. R. Smith met Dr. Who, e.g. in the U.S. last week.",
        "abbreviation": "It costs 3.50 etc. and more vs. less.",
        "file": "Open the file main.py in vim.",
        "no-space": "It ends.And begins again.",
        "dots": "It goes on... and on... to the end.",
        "marks": "What?! Really?! Yes!!! It is so.",
    }.items():
        yield f"c4-line/{key}", "\n".join([good, "A second one is here to stay.", line, "Third is this line of words.", "The fourth line is here. It has two sentences."])
        yield f"c4-short-of/{key}", "\n".join([good, line, "Third is this line of words.", "The fourth line is here."])

    for n in (10, 11, 12, 13, 14):
        yield f"fineweb-punctuated/{n}", "\n".join(body(12) + ("." if i < n else "") for i in range(100))
    for n in (66, 67, 68):
        yield f"fineweb-short/{n}", "\n".join((f"{i} short line." if i < n else body(12) + ".") for i in range(100))
    for n in (29, 30, 31):
        yield f"fineweb-length/{n}", "\n".join(f"{i:0{n - 1}d}." for i in range(20))
    for n in (1, 2, 5):
        yield f"fineweb-duplicates/{n}", "\n".join([body(12) + "." for _ in range(40)] + ["twice a line."] * (n + 1))
    for n in (2, 3, 4, 5):
        yield f"fineweb-newlines/{n}", ".\n".join(" ".join(w * 12 for w in words(n, 6)) for _ in range(40)) + "."
    for mark in "。！？.!?।။።…:;)\"'”":
        yield f"fineweb-mark/U+{ord(mark):04X}", "\n".join(body(12) + mark for _ in range(9))

    for key, text in {
        "empty": "",
        "space": "   ",
        "newlines": "\n\n\n",
        "symbols": "!!!",
        "symbols-many": "!!! " * 100,
        "one-word": "word",
        "hash": "#",
        "nul": "\0" * 60,
        "combining": "e\u0301 " * 100,
        "emoji": "👍 " * 100,
        "zero-width": "a\u200bb " * 100,
        "no-break": "\u00a0".join(distinct(80)),
        "separators": "\u2028".join(body(12) + "." for _ in range(9)),
        "form-feeds": "\f".join(body(12) + "." for _ in range(9)),
        "carriage-returns": "\r".join(body(12) + "." for _ in range(9)),
        "crlf": "\r\n".join(body(12) + "." for _ in range(9)) + "\r\n",
        "blank-lines": " \n\n".join(body(12) + "." for _ in range(9)),
        "ends-in-newline": body(60) + ".\n",
        "begins-with-newline": "\n" + body(60) + ".",
        "both-newlines": "\n" + body(60) + ".\n",
        "rules": "\n".join([body(20) + ".", "=" * 60, body(20) + ".", "-" * 60, body(20) + ".", "*" * 60]),
        "table": "\n".join("| " + " | ".join(distinct(4)) + " |" for _ in range(12)),
        "code": "\n".join(f"    if x_{i} != {i}: return f({i}, 'a_{i}')" for i in range(30)),
        "urls": "\n".join(f"See https://example.org/{w}/{i}?q={w}#top for more of it." for i, w in enumerate(distinct(12))),
        "mail": "\n".join(f"Write to {w}@example.org or call 555-01{i:02d}." for i, w in enumerate(distinct(12))),
        "contractions": " ".join("don't it's we're I'll o'clock can't that’s won’t".split() * 1) + " the of " + " ".join(distinct(70)),
        "hyphens": "the of " + " ".join("-".join(distinct(2)) for _ in range(60)),
        "slashes": "the of " + " ".join("/".join(distinct(2)) for _ in range(60)),
        "numbers": "the of " + " ".join(f"{i}.5 1,0{i:02d} 10:{i:02d} 2024-01-{i:02d}" for i in range(10, 31)),
        "quotes": " ".join(f'"{w}," ‘{w}’ “{w}”' for w in distinct(30)) + " the of",
        "times": "日本語の文章です。" * 200,
        "times-lines": "日本語の文章です。\n" * 200,
    }.items():
        yield f"odd/{key}", text
    for key, text in RIGHTS.items():
        yield f"unspaced/{key}", text
        yield f"unspaced/{key}-lines", text.replace(" ", "\n")


STOP = {"the", "be", "to", "of", "and", "that", "have", "with"}

# The first articles of the Universal Declaration of Human Rights.
RIGHTS = {
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    "lao": "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ, ສິດທິ, ເສລີພາບ ແລະ ຄວາມສະເໝີພາບເທົ່າທຽມກັນ. ທຸກໆຄົນມີເຫດຜົນ ແລະ ຄວາມຄິດຄວາມເຫັນສ່ວນຕົວຂອງໃຜຂອງມັນ.",
    "khmer": "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។ មនុស្ស មានវិចារណញ្ញាណនិងសតិសម្បជញ្ញៈជាប់ពីកំណើត ហើយគប្បីប្រព្រឹត្ដចំពោះគ្នាទៅវិញទៅមក ក្នុងស្មារតីភាតរភាពជាបងប្អូន។",
    "myanmar": "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။",
}


# What datatrove says.


def verdict(run):
    """The reason of a filter, "" if the text stays."""
    try:
        result = run()
    except Exception as error:
        return type(error).__name__
    return "" if result is True else result[1]


def share(a, b):
    return float(a / b) if b else 0.0


def gopher(text, tokenizer):
    reason = verdict(lambda: GopherQualityFilter(language=tokenizer).filter(Document(text=text, id="x")))
    if not reason:
        reason = verdict(lambda: GopherRepetitionFilter(language=tokenizer).filter(Document(text=text, id="x")))
    words = split_into_words(text, tokenizer)
    plain = [w for w in words if any(c not in PUNCTUATION_SET for c in w)]
    lines = text.splitlines()
    r = GopherRepetitionFilter()
    paragraphs = r.paragraph_exp.split(text.strip())
    pieces = r._line_splitter.split(text)
    duplicate_paragraphs = repetition.find_duplicates(paragraphs)
    duplicate_lines = repetition.find_duplicates(pieces)
    top = []
    for n in (2, 3, 4):
        grams = repetition.get_n_grams(words, n)
        top.append(share(repetition.find_top_duplicate(grams), len(text)) if grams else 0.0)
    return {
        "reason": reason,
        "words": len(plain),
        "mean_word_length": float(np.mean([len(w) for w in plain])) if plain else 0.0,
        "hash_ratio": share(text.count("#"), len(words)),
        "ellipsis_ratio": share(text.count("...") + text.count("…"), len(words)),
        "bullet_lines": share(sum(s.lstrip().startswith(("•", "-")) for s in lines), len(lines)),
        "ellipsis_lines": share(sum(s.rstrip().endswith(("...", "…")) for s in lines), len(lines)),
        "alphabetic_words": share(sum(any(c.isalpha() for c in w) for w in words), len(words)),
        "stop_words": len(STOP.intersection(words)),
        "duplicate_paragraphs": share(duplicate_paragraphs[0], len(paragraphs)),
        "duplicate_paragraph_chars": share(duplicate_paragraphs[1], len(text)),
        "duplicate_lines": share(duplicate_lines[0], len(pieces)),
        "duplicate_line_chars": share(duplicate_lines[1], len(text)),
        "top_grams": top,
        "duplicate_grams": [share(repetition.find_all_duplicate(words, n), len(text)) for n in range(5, 11)],
    }


def c4(text):
    counts = {}
    sentences = []
    rules = C4QualityFilter()
    rules.stat_update = lambda name, *_, **__: counts.__setitem__(name, counts.get(name, 0) + 1)

    def split(line, language):
        found = split_into_sentences(line, language)
        sentences.append(len(found))
        return found

    c4_filters.split_into_sentences = split
    document = Document(text=text, id="x")
    reason = verdict(lambda: rules.filter(document))
    return {
        "reason": reason,
        "kept": document.text if not reason and document.text != text else None,
        "lines": counts.get("line-total", 0),
        "kept_lines": counts.get("line-kept", 0),
        "long_word_lines": counts.get("line-filter-too_long_word", 0),
        "unpunctuated_lines": counts.get("line-filter-no_terminal_punc", 0),
        "short_lines": counts.get("line-filter-too_few_words", 0),
        "javascript_lines": counts.get("line-filter-javascript", 0),
        "policy_lines": counts.get("line-filter-policy", 0),
        "sentences": sum(sentences),
    }


def fineweb(text, tokenizer):
    reason = verdict(lambda: FineWebQualityFilter(language=tokenizer).filter(Document(text=text, id="x")))
    lines = [line for line in text.split("\n") if line.strip() != ""]
    return {
        "reason": reason,
        "punctuated_lines": share(sum(line.endswith(tuple(TERMINAL_PUNCTUATION)) for line in lines), len(lines)),
        "short_lines": share(sum(len(line) <= 30 for line in lines), len(lines)),
        "duplicate_line_chars": share(repetition.find_duplicates(lines)[1], len(text.replace("\n", ""))),
        "newline_ratio": share(text.count("\n"), len(split_into_words(text, tokenizer))),
    }


def main():
    rng = random.Random(5)
    with gzip.GzipFile("records.jsonl.gz", "wb", mtime=0) as out:
        n = 0
        for key, text in texts(rng):
            row = {"id": key, "text": text, "c4": c4(text)}
            for suffix, tokenizer in TOKENIZERS.items():
                row["gopher" + suffix] = gopher(text, tokenizer)
                row["fineweb" + suffix] = fineweb(text, tokenizer)
            out.write((json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode())
            n += 1
    print(n, "records")


if __name__ == "__main__":
    main()
