"""Files of lines and back: gzip members, zstd frames, byte order marks."""

import gzip
import pathlib
import subprocess
import zlib

BOM = b"\xef\xbb\xbf"
SKIPPABLE = 0x184D2A50  # first magic number of a zstd frame that holds no data


def gzip_member(data):
    """One gzip member, the same bytes whenever it is made."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def zstd_frame(data):
    """One zstd frame. Python 3.11 has no zstd, so the command does it."""
    return zstd("-19", "-q", "-c", data=data)


def skippable_frame(note):
    return SKIPPABLE.to_bytes(4, "little") + len(note).to_bytes(4, "little") + note


def zstd(*args, data):
    try:
        return subprocess.run(["zstd", *args], input=data, stdout=subprocess.PIPE, check=True).stdout
    except FileNotFoundError:
        raise SystemExit("make_corpus: the command zstd is not there: apt-get install zstd")


def members(path):
    """Yields the decompressed parts of a file, one for each gzip member."""
    data = pathlib.Path(path).read_bytes()
    if path.name.endswith(".zst"):
        yield zstd("-d", "-q", "-c", data=data)
    elif path.name.endswith(".gz"):
        while data:
            d = zlib.decompressobj(wbits=31)
            yield d.decompress(data)
            if not d.eof:
                raise ValueError(f"{path}: cut off")
            data = d.unused_data
    else:
        yield data


class Lines:
    """The lines of a file without their ends, and what was seen on the way."""

    def __init__(self, path):
        self.boms = 0
        rest = b""
        self.lines = []
        for part in members(path):
            if not rest and part.startswith(BOM):
                self.boms += 1
                part = part[len(BOM):]
            *whole, rest = (rest + part).split(b"\n")
            self.lines += whole
        if rest:
            self.lines.append(rest)
