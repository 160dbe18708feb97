"""A model of cleaning, the quality metrics and exact deduplication."""

import bisect
import collections
import math
import re
import unicodedata

from .alphabetic import OTHER_ALPHABETIC

# The White_Space property. Python's str.strip would also take U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
SPLIT = {ord(c): " " for c in WHITE_SPACE}
STARTS = [first for first, _ in OTHER_ALPHABETIC]

# The preset "pretraining": bound, what it bounds, and on which side.
PRETRAINING = [
    ("min_chars", "chars", 20),
    ("min_words", "words", 3),
    ("min_entropy", "entropy", 2.5),
    ("max_repetition", "repetition", 0.35),
    ("max_symbol_ratio", "symbol_ratio", 0.30),
]


def clean(text):
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(WHITE_SPACE)


def alphanumeric(c):
    """Alphabetic or a number. Alphabetic = L, Nl and the property Other_Alphabetic."""
    category = unicodedata.category(c)
    if category[0] in "LN":
        return True
    if category == "Cn" and ord(c) & 0xFFFE != 0xFFFE and not 0xFDD0 <= ord(c) <= 0xFDEF:
        raise ValueError(f"U+{ord(c):04X} is newer than the Unicode {unicodedata.unidata_version} of this Python")
    i = bisect.bisect_right(STARTS, ord(c)) - 1
    return i >= 0 and ord(c) <= OTHER_ALPHABETIC[i][1]


# Letters of scripts that write no spaces, as far as the corpus has them.
UNSPACED = [
    (re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"), 2),  # Han
    (re.compile("[\u3041-\u3096\u309d-\u309f][\u3041-\u3096\u3099-\u309f\u30fc]*"), 2),  # Hiragana
    (re.compile("[\u30a1-\u30fa\u30fd-\u30ff\uff66-\uff9d][\u30a1-\u30ff\uff66-\uff9f]*"), None),  # Katakana
]


def words_by_script(word):
    """How many words a word without spaces counts for."""
    n = 0
    for run, letters in UNSPACED:
        for m in run.findall(word):
            n += 1 if letters is None else -(-len(m.replace("\u30fc", "")) // letters)
    return max(n, 1)


def metrics(text):
    words = [w for w in text.translate(SPLIT).split(" ") if w]
    counts = collections.Counter(text)
    n = len(text)
    entropy = math.fsum(-k / n * math.log2(k / n) for k in counts.values())
    repetition = 0.0
    if len(words) >= 4:
        triples = list(zip(words, words[1:], words[2:]))
        repetition = (len(triples) - len(set(triples))) / len(triples)
    solid = sum(k for c, k in counts.items() if c not in WHITE_SPACE)
    symbols = sum(k for c, k in counts.items() if c not in WHITE_SPACE and not alphanumeric(c))
    return {
        "chars": n,
        "words": sum(words_by_script(w) for w in words),
        "entropy": entropy,
        "repetition": repetition,
        "symbol_ratio": symbols / solid if solid else 0.0,
    }


def fails(m):
    """The first bound that the metrics break: reason, value, bound; or None."""
    for reason, name, bound in PRETRAINING:
        v = m[name]
        if abs(v - bound) < 1e-9 and v != bound:
            raise ValueError(f"{name} {v!r} is too near its bound for a test that rounds")
        if v < bound if reason.startswith("min") else v > bound:
            return reason, v, bound
    return None
