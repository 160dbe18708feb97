"""Paragraphs of real prose out of unpacked Debian packages."""

import gzip
import html.parser
import pathlib
import random
import re
import unicodedata
import xml.etree.ElementTree as ElementTree

# Packages to unpack, as `apt-get download` names them.
PACKAGES = ["gnome-user-docs", "debian-handbook", "dict-jargon", "base-files", "unicode-data"]

# Records wanted of each translation, by folder. What a translation lacks is not made up for.
GNOME = {"C": 170}
GNOME |= dict.fromkeys("de fr es it pt_BR ja zh_CN ru uk pl ko el".split(), 90)
GNOME |= dict.fromkeys("hi fa he ta te gu pa mr kn as".split(), 60)
GNOME |= dict.fromkeys("cs sv nl hu fi ca ro sr lv lt tr vi da gl hr id sl".split(), 45)
HANDBOOK = {"en-US": 150, "ar-MA": 150, "fa-IR": 110, "fr-FR": 80}
HANDBOOK |= dict.fromkeys("de-DE es-ES it-IT pt-BR pl-PL ja-JP zh-CN zh-TW ru-RU ko-KR el-GR".split(), 50)
HANDBOOK |= dict.fromkeys("nb-NO vi-VN sv-SE tr-TR id-ID".split(), 30)
JARGON = 450

# First word of the Unicode names of the letters of a language; None is Latin.
SCRIPTS = {
    "ja": ("HIRAGANA", "KATAKANA", "CJK"), "zh": ("CJK",), "ko": ("HANGUL",),
    "ru": ("CYRILLIC",), "uk": ("CYRILLIC",), "sr": ("CYRILLIC",), "el": ("GREEK",),
    "hi": ("DEVANAGARI",), "mr": ("DEVANAGARI",), "ta": ("TAMIL",), "te": ("TELUGU",),
    "gu": ("GUJARATI",), "pa": ("GURMUKHI",), "kn": ("KANNADA",), "as": ("BENGALI",),
    "fa": ("ARABIC",), "ar": ("ARABIC",), "he": ("HEBREW",),
}
ENGLISH = {"the", "of", "and", "to", "is", "in", "for", "with", "that", "this", "be", "are"}
WIDE = ("ja", "zh", "ko")  # a character says as much as two or three Latin ones

# Real mail addresses have no place here, nor have hosts that a scanner of this
# repository would take for settings, nor folders of the administrator.
UNWANTED = re.compile(r"@|debian\.org|/(?:root|work)\b|[\x00-\x08\x0b-\x1f\x7f]")


def gather(root, seed):
    """Returns the records, dicts of id and text, in an order fixed by the seed."""
    root = pathlib.Path(root)
    rng = random.Random(seed)
    out = []
    english = set()
    for lang, want in GNOME.items():
        blocks = list(gnome_pages(root / "gnome-user-docs/usr/share/help" / lang))
        out += sample(f"gnome-help/{lang}", lang, blocks, english, want, rng)
    english = set()
    for lang, want in HANDBOOK.items():
        blocks = list(handbook_pages(root / "debian-handbook/usr/share/doc/debian-handbook/html" / lang))
        out += sample(f"debian-handbook/{lang}", lang, blocks, english, want, rng)
    out += sample("jargon", "en", [[b] for b in jargon(root)], set(), JARGON, rng)
    out += licences(root)

    seen, unique = set(), []
    for r in out:
        if r["text"] not in seen:
            seen.add(r["text"])
            unique.append(r)
    rng.shuffle(unique)
    return unique


def sample(name, lang, pages, english, want, rng):
    """Joins neighbouring paragraphs of each page to records of a useful size and picks some."""
    lang = re.split("[-_]", lang)[0]
    least, enough = (60, 160) if lang in WIDE else (140, 380)
    groups = []
    for page in pages:
        if name.endswith(("/C", "/en-US")):
            english.update(page)
        else:  # paragraphs that nobody has translated
            page = [b for b in page if b not in english]
        group = []
        for block in page + [None]:
            if block is None or sum(map(len, group)) >= enough:
                text = "\n".join(group)
                if least <= len(text) <= 2400 and in_script(text, lang) and not UNWANTED.search(text):
                    groups.append(text)
                group = []
            if block is not None:
                group.append(block)
    rng.shuffle(groups)
    return [{"id": f"{name}/{i:04}", "text": t} for i, t in enumerate(groups[:want])]


def in_script(text, lang):
    """Says whether most letters belong to the language, which an untranslated text fails."""
    if any(unicodedata.category(c) == "Cn" for c in text):
        return False  # newer than this Python: the models could not classify it
    names = SCRIPTS.get(lang)
    if names is None:
        words = text.lower().split()
        return lang in ("C", "en") or sum(w in ENGLISH for w in words) * 10 < len(words)
    letters = [c for c in text if c.isalpha()]
    own = sum(unicodedata.name(c, "").split(" ")[0] in names for c in letters)
    return own * 2 > len(letters)


def squeeze(text):
    """Undoes the line breaks of mark-up; a no-break or ideographic space is text and stays."""
    return re.sub("[ \t\r\n]+", " ", text).strip(" ")


def gnome_pages(folder):
    """Yields the paragraphs of each Mallard page."""
    ns = "{http://projectmallard.org/1.0/}"
    for path in sorted(folder.glob("*/*.page")):
        blocks = []

        def walk(e):
            if e.tag in (ns + "info", ns + "code", ns + "screen", ns + "comment"):
                return
            if e.tag in (ns + "p", ns + "title"):
                text = squeeze("".join(e.itertext()))
                if text:
                    blocks.append(text)
                return
            for child in e:
                walk(child)

        walk(ElementTree.parse(path).getroot())
        yield blocks


class Paragraphs(html.parser.HTMLParser):
    """Collects the text of each <div class="para">, the inner ones by themselves."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks, self.divs, self.skip = [], [], 0

    def handle_starttag(self, tag, attrs):
        if tag == "div":
            para = dict(attrs).get("class") == "para"
            self.divs.append([] if para else None)
        elif tag in ("pre", "script", "style"):
            self.skip += 1

    def handle_endtag(self, tag):
        if tag == "div" and self.divs:
            parts = self.divs.pop()
            if parts:
                text = squeeze("".join(parts))
                if text:
                    self.blocks.append(text)
        elif tag in ("pre", "script", "style"):
            self.skip -= 1

    def handle_data(self, data):
        if not self.skip and self.divs and self.divs[-1] is not None:
            self.divs[-1].append(data)


def handbook_pages(folder):
    for path in sorted(folder.glob("*.html")):
        parser = Paragraphs()
        parser.feed(path.read_text(encoding="utf-8"))
        parser.close()
        yield parser.blocks


def jargon(root):
    """Yields entries of the dictionary file; its .dz is plain gzip to a reader from the start."""
    data = gzip.decompress((root / "dict-jargon/usr/share/dictd/jargon.dict.dz").read_bytes())
    for entry in re.split(r"\n(?=\S)", data.decode("utf-8")):
        paragraphs = [squeeze(p) for p in entry.split("\n\n")]
        yield "\n".join(p for p in paragraphs if p)


def licences(root):
    """Yields paragraphs of the licences that may be cut up and, whole, one that may not."""
    folder = root / "base-files/usr/share/common-licenses"
    out = []
    for name in ("Apache-2.0", "CC0-1.0"):
        text = (folder / name).read_text(encoding="utf-8")
        n = 0
        for p in text.split("\n\n"):
            p = squeeze(p)
            if len(p) >= 200 and not UNWANTED.search(p):
                out.append({"id": f"licence/{name}/{n:02}", "text": p})
                n += 1
    text = (folder / "GPL-2").read_text(encoding="utf-8")
    out.append({"id": "licence/GPL-2", "text": text.replace("\f", "")})
    return out
