"""The data that every system is timed on, made the same on every machine.

A column file is little endian: the number of rows n (uint32), n+1 offsets (uint32, the first
is 0), then the payload in UTF-8. The JSONL file of a set holds its rows as records with ids.

    python dataset.py --out DIR --corpus DIR
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import string
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

SEED = 7
COLUMNS = ("short", "med", "docs")
TEXTS = ("docs", "plain", "prose", "cjk", "pii")
LINES = ("docs", "prose")
SAMPLE_BYTES = 4_000_000  # of each set of TEXTS but docs
PROSE = ("gnome-help/", "debian-handbook/", "jargon/")  # ids of prose in the corpus begin so


def write_column(path: Path, rows: list[str]) -> None:
    """Writes rows as a column file."""
    encoded = [row.encode() for row in rows]
    offsets = np.zeros(len(rows) + 1, dtype="<u4")
    np.cumsum([len(row) for row in encoded], out=offsets[1:])
    with path.open("wb") as file:
        file.write(np.uint32(len(rows)).astype("<u4").tobytes())
        file.write(offsets.tobytes())
        file.write(b"".join(encoded))


def read_buffers(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the offsets and the payload of a column file."""
    data = np.fromfile(path, dtype=np.uint8)
    rows = int(data[:4].view("<u4")[0])
    end = 4 + 4 * (rows + 1)
    return data[4:end].view("<u4").copy(), data[end:].copy()


def read_column(path: Path) -> list[str]:
    """Returns the rows of a column file."""
    offsets, payload = read_buffers(path)
    data, ends = payload.tobytes(), offsets.tolist()
    return [data[start:end].decode() for start, end in pairwise(ends)]


class Generator:
    """Makes texts from a vocabulary of invented words."""

    def __init__(self) -> None:
        self.rng = random.Random(SEED)
        self.words = [
            "".join(self.rng.choices(string.ascii_lowercase, k=self.rng.randint(2, 9)))
            for _ in range(4000)
        ]

    def short(self) -> list[str]:
        """300,000 strings of 8 bytes on average: most fit a 16-byte view."""
        return [self.rng.choice(self.words) + str(i % 977) for i in range(300_000)]

    def med(self) -> list[str]:
        """300,000 strings of 26 bytes on average."""
        word = lambda: self.rng.choice(self.words)  # noqa: E731
        return [f"{word()} {word()} {word()} {i}" for i in range(300_000)]

    def docs(self) -> list[str]:
        """36,000 documents of 527 bytes on average, one in six twice, one in ten with PII."""
        docs = []
        for i in range(30_000):
            text = "  " + " ".join(self.rng.choices(self.words, k=80))
            text += "\r\n" if i % 3 else "."
            if i % 10 == 0:
                text += f" bob{i}@example.com 10.0.0.{i % 255}"
            docs.append(text)
        docs += docs[:6000]
        self.rng.shuffle(docs)
        return docs

    def cjk(self) -> list[str]:
        """Chinese-like text: skewed ideographs, full-width commas and stops, a few line ends."""
        texts, size = [], 0
        while size < SAMPLE_BYTES:
            clauses = []
            for _ in range(self.rng.randint(8, 20)):
                length = self.rng.randint(5, 15)
                ranks = (min(20_000, int(self.rng.paretovariate(0.7) * 7)) for _ in range(length))
                clause = "".join(chr(0x4E00 + rank) for rank in ranks)
                clauses.append(clause + self.rng.choice("，，。、"))
            for i in range(3, len(clauses), 4):
                clauses[i] += "\n"
            texts.append("".join(clauses))
            size += len(texts[-1].encode())
        return texts

    def pii(self) -> list[str]:
        """Documents of 500 bytes with two pieces of invented personal data each."""
        texts, size = [], 0
        while size < SAMPLE_BYTES:
            words = self.rng.choices(self.words, k=70)
            for _ in range(2):
                words.insert(self.rng.randint(0, len(words)), self.secret())
            texts.append(" ".join(words))
            size += len(texts[-1])
        return texts

    def plain(self) -> list[str]:
        """Documents of 500 bytes without personal data."""
        texts, size = [], 0
        while size < SAMPLE_BYTES:
            texts.append(" ".join(self.rng.choices(self.words, k=80)))
            size += len(texts[-1])
        return texts

    def secret(self) -> str:
        """One piece of invented personal data that every masker should find."""
        number = self.rng.randint
        token = "".join(self.rng.choices(string.ascii_letters + string.digits, k=36))
        return self.rng.choice(
            (
                f"john.smith{number(0, 999)}@mail.example.com",
                f"192.0.2.{number(0, 255)}",
                card_number(self.rng),
                "ghp_" + token,
                "Bearer " + token,
            )
        )


def card_number(rng: random.Random) -> str:
    """Returns a 16-digit number with the form and the check digit of a payment card."""
    digits = [4] + [rng.randint(0, 9) for _ in range(14)]
    total = sum(d if i % 2 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits))
    digits.append(-total % 10)
    text = "".join(map(str, digits))
    return " ".join(text[i : i + 4] for i in range(0, 16, 4))


def prose(corpus: Path) -> list[str]:
    """Mostly ASCII prose of the example corpus, repeated with a mark up to the sample size.

    The mark keeps the copies from being duplicates of each other.
    """
    records = [t for t in corpus_texts(corpus) if len(t) >= 100 and ascii_share(t) > 0.98]
    texts: list[str] = []
    size = turn = 0
    while records and size < SAMPLE_BYTES:
        for text in records:
            texts.append(text if turn == 0 else f"{text} ({turn})")
            size += len(texts[-1].encode())
            if size >= SAMPLE_BYTES:
                break
        turn += 1
    return texts


def ascii_share(text: str) -> float:
    return sum(c < "\x80" for c in text) / len(text)


def corpus_texts(corpus: Path) -> Iterator[str]:
    """Yields the prose in the JSON files of the corpus, in the order of their paths.

    The other records were planted to try out single rules and are no measure of speed.
    """
    for path in sorted(corpus.glob("*json*")):
        for line in open_lines(path).split(b"\n"):
            line = line.removeprefix(b"\xef\xbb\xbf").strip()
            record = json.loads(line.decode(errors="replace")) if line else {}
            if str(record.get("id")).startswith(PROSE) and isinstance(record.get("text"), str):
                # A lone surrogate has no UTF-8.
                yield re.sub("[\ud800-\udfff]", "\ufffd", record["text"])


def open_lines(path: Path) -> bytes:
    """Returns the bytes of a file, decompressed by its extension; b"" if it is of another kind."""
    match path.suffix:
        case ".jsonl" | ".ndjson":
            return path.read_bytes()
        case ".gz":
            return gzip.decompress(path.read_bytes())
        case ".zst":
            with pa.input_stream(str(path), compression="zstd") as stream:
                return stream.read()
    return b""


def write_jsonl(path: Path, texts: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for i, text in enumerate(texts):
            record = {"id": str(i), "url": f"https://example.org/{i}", "text": text}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def make(out: Path, corpus: Path) -> None:
    """Writes every data set to out and `SHA256SUMS` beside them."""
    out.mkdir(parents=True, exist_ok=True)
    generator = Generator()
    sets = {name: getattr(generator, name)() for name in ("short", "med", "docs", "cjk", "pii")}
    sets["plain"] = generator.plain()
    if texts := prose(corpus):
        sets["prose"] = texts
    for path in (out / "prose.col", out / "prose.jsonl"):
        path.unlink(missing_ok=True)
    for name, rows in sets.items():
        write_column(out / f"{name}.col", rows)
        if name in LINES:
            write_jsonl(out / f"{name}.jsonl", rows)
    files = sorted(p for p in out.iterdir() if p.suffix in (".col", ".jsonl"))
    sums = (f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)
    (out / "SHA256SUMS").write_text("".join(sums))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the data sets")
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the example corpus")
    args = parser.parse_args()
    make(args.out, args.corpus)


if __name__ == "__main__":
    main()
