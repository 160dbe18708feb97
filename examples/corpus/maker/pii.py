"""A model of masking, written from docs/pii.md: the kinds that are on by default.

It is slow and goes by the letter of that page: patterns of Python's re, checks by hand,
addresses of version 6 by the standard library. The phone kind is off by default and left out.
"""

import ipaddress
import re

REPLACEMENTS = {"key": "[API_KEY]", "email": "[EMAIL]", "card": "[CARD]", "ip": "[IP]"}


def mask(text, spans):
    """Puts the replacement of each span, sorted and disjoint, in its place."""
    out, at = [], 0
    for start, end, kind in spans:
        out += [text[at:start], REPLACEMENTS[kind]]
        at = end
    return "".join(out) + text[at:]


def find(text):
    """Returns the spans to mask, sorted: start, end (in code points), kind."""
    walls = []
    for kind, forms in (
        ("key", (key_block, bearer, dotted_token, prefixed_key, named_value)),
        ("email", (email,)),
        ("card", (card,)),
        ("ip", (ip,)),
    ):
        for search in forms:
            found = []
            at = 0
            for start, end, _ in walls + [(len(text), len(text), "")]:
                found += within(text, at, start, search, kind)
                at = end
            walls = sorted(walls + found)
    return walls


def within(text, start, end, search, kind):
    """Searches a stretch between walls; each find is a wall to the rest of it."""
    out = []
    while start < end:
        m = search(text[start:end])
        if m is None:
            break
        out.append((start + m[0], start + m[1], kind))
        start += m[1]
    return out


def candidates(pattern, s):
    """Yields a match at every place where the pattern fits, overlapping ones too."""
    m = pattern.search(s)
    while m:
        yield m
        m = pattern.search(s, m.start() + 1)


# Key

def key_like(s):
    return any(
        len(run) >= 15 or len(run) >= 8 and re.search("[A-Za-z]", run) and len(re.findall("[0-9]", run)) >= 2
        for run in re.findall("[A-Za-z0-9]+", s)
    )


BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY-----"
    r"(?:-{0,4}[A-Za-z0-9+/=:, \t\r\n\f\v\\])*"
    r"-----END [A-Z0-9 ]{0,32}PRIVATE KEY-----"
)


def key_block(s):
    m = BLOCK.search(s)
    return m and m.span()


BEARER = re.compile(r"(?<!\w)Bearer[ \t]+([A-Za-z0-9._~+/-]++)(?!\w)(={0,2})")


def bearer(s):
    for m in candidates(BEARER, s):
        run, end = m[1], m.end()
        if not m[2]:
            run = run.rstrip("._~+/-")
            end = m.start(1) + len(run)
        if len(run) >= 20 and key_like(run):
            return m.start(), end
    return None


DOTTED = re.compile(
    r"(?<![\w-])(?:(?<!\])[_-]+)?(eyJT{10,}+(?:\.T{10,}+){2,4}|SG\.T{16,}+\.T{16,}+|ya29\.T{20,}+)(?![\w-])".replace("T{", "[A-Za-z0-9_-]{")
)


def dotted_token(s):
    m = DOTTED.search(s)
    return m and m.span(1)


PREFIXES = (
    "hf_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- sk- sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ "
    "whsec_ npm_ pypi- xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp- nvapi- gsk_ xai- shpat_ dop_v1_ lin_api_"
).split()
RUN = re.compile(r"(?<![\w-])[A-Za-z0-9_-]++(?!\w)")


def prefixed_key(s):
    for m in RUN.finditer(s):
        run = m[0].strip("-_")
        if m[0][0] in "-_" and s[m.start() - 1:m.start()] == "]":
            continue  # perhaps what is left of a key masked before
        if is_key(run):
            start = m.start() + m[0].index(run)
            return start, start + len(run)
    return None


def is_key(run):
    if len(run) < 18:  # the shortest prefix and 15 more
        return False
    for prefix in PREFIXES:
        rest = run[len(prefix):]
        if run.startswith(prefix) and len(rest) >= 15 and key_like(rest):
            return True
    if run.startswith("AIza") and len(run) >= 4 + 35 and key_like(run[4:]):
        return True
    return re.fullmatch("A[KS]IA[A-Z0-9]{16}", run) is not None


NAMED = re.compile(
    r"(?ai:(?:api|access|secret|private|account)[_-]?key|secret|token|authorization)"
    r"[\"']?[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4}(?:(?:Basic|Token|ApiKey)[ \t]{1,4})?[\"'`]?"
    r"([A-Za-z0-9][A-Za-z0-9_+/-]*+)(?![\w(\[])(={0,2})"
)


def named_value(s):
    for m in candidates(NAMED, s):
        run = m[1]
        lower, upper, digits = (re.findall(c, run) for c in ("[a-z]", "[A-Z]", "[0-9]"))
        mixed = len(digits) >= 2 and (lower or upper) or digits and lower and upper
        if len(run) >= 20 and key_like(run) and mixed:
            return m.start(1), m.end()
    return None


# Email

LOCAL = re.compile(r"(?<!\w)[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}@")
HOST = re.compile(r"[A-Za-z0-9.-]*")
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DOMAIN = re.compile(rf"(?:{LABEL}\.)+(?:[A-Za-z]{{2,63}}|[Xx][Nn]--[A-Za-z0-9-]{{0,58}}[A-Za-z0-9])")


def email(s):
    for m in candidates(LOCAL, s):
        local = m[0][:-1]
        if ".." in local or local.endswith("."):
            continue
        at = m.end()
        for end in range(min(HOST.match(s, at).end(), at + 255), at, -1):
            if not re.match(r"\w", s[end:end + 1]) and DOMAIN.fullmatch(s, at, end):
                return m.start(), end
    return None


# Card

GROUPINGS = ["4-4-4-4-3", "4-4-4-4-2", "4-4-4-4-1", "4-4-4-4", "4-6-5", "4-6-4", "4-4-4-1"]
CARDS = [re.compile(r"(?<![\w.+-])[0-9]{13,19}+(?!\w|\.[0-9]|-\w)")] + [
    re.compile(
        r"(?<![\w.+-])" + separator.join(f"[0-9]{{{n}}}" for n in grouping.split("-")) + r"(?!\w|\.[0-9]|-\w)"
    )
    for grouping in GROUPINGS
    for separator in (" ", "-")
]
ISSUERS = [  # prefix, from, to, lengths
    ("4", "4", (13, 16, 19)),
    ("51", "55", (16,)), ("2221", "2720", (16,)),
    ("34", "34", (15,)), ("37", "37", (15,)),
    ("300", "305", range(14, 20)), ("3095", "3095", range(14, 20)), ("36", "36", range(14, 20)), ("38", "39", range(14, 20)),
    ("3528", "3589", range(16, 20)),
    ("2200", "2204", range(16, 20)),
    ("6011", "6011", range(16, 20)), ("644", "649", range(16, 20)), ("65", "65", range(16, 20)),
    ("62", "62", range(16, 20)),
    ("50", "50", range(13, 20)), ("56", "69", range(13, 20)),
]
CARD_START = re.compile(r"(?<![\w.+-])[0-9]")


def card(s):
    for start in candidates(CARD_START, s):
        for pattern in CARDS:  # the groupings with more digits come first
            m = pattern.match(s, start.start())
            if m and is_card(re.sub("[ -]", "", m[0])):
                return m.span()
    return None


def is_card(digits):
    if not any(a <= digits[: len(a)] <= b and len(digits) in lengths for a, b, lengths in ISSUERS):
        return False
    total = sum(map(int, digits[-1::-2])) + sum(sum(divmod(2 * int(d), 10)) for d in digits[-2::-2])
    return total % 10 == 0


# IP address

OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
V4 = re.compile(rf"{OCTET}(?:\.{OCTET}){{3}}")
BEFORE = re.compile(r"(?:[\w.]|[\w\]][-/+~])\Z")
VERSION_OPERATOR = re.compile(r"[=<>~!]=\Z")
VERSION_WORD = re.compile(
    r"(?<![^\W_])(?ai:v|ver|version|release|build|rev|revision|firmware|section|chapter)[\"']?[.:=]?[ \t\u00a0]{0,2}[\"']?\Z"
)
V6_RUN = re.compile("[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:]*")


def ip(s):
    found = [m for m in (v4(s), v6(s)) if m]
    return min(found) if found else None


def v4(s):
    for m in candidates(V4, s):
        before, behind = s[max(0, m.start() - 40):m.start()], s[m.end():m.end() + 2]
        if BEFORE.search(before) or VERSION_OPERATOR.search(before) or VERSION_WORD.search(before):
            continue
        if re.match(r"\w|\.\w|[-+~](?![0-9_])\w", behind):
            continue
        return m.span()
    return None


def v6(s):
    for m in V6_RUN.finditer(s):
        start, end = m.span()
        if s[start] == ":" and s[start + 1] != ":" and s[start - 1:start] != "]":
            start += 1
        embedded = None
        if s[m.end():m.end() + 1] == ".":
            embedded = V4.match(s, s.rindex(":", start, end) + 1)
            if embedded:
                end = embedded.end()
            elif re.match(r"\w", s[m.end() + 1:m.end() + 2]):
                continue
        elif s[end - 1] == ":" and s[end - 2] != ":" and s[m.end():m.end() + 1] != "[":
            end -= 1
        if BEFORE.search(s[max(0, start - 2):start]) or re.match(r"\w|\.\w", s[end:end + 2]):
            continue
        scope = s[end - 2:end] == "::" and not re.match("/[0-9]", s[end:end + 2])
        code = scope or s[start - 1:start] == "[" or s[end:end + 1] == "]"
        if is_v6(s[start:end], bool(embedded), code):
            return start, end
    return None


def is_v6(address, embedded, code):
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    if embedded:
        return True
    if not re.search("[0-9]", address):
        return False
    groups = [g for g in address.split(":") if g]
    if "::" not in address:
        return not all(re.fullmatch("[0-9A-Fa-f]{2}", g) for g in groups)
    return address == "::1" or len(groups) >= 3 or any(len(g) == 4 for g in groups) or not code
