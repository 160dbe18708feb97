"""The parts of make_corpus.py.

prose      paragraphs out of Debian packages
planted    invented records: duplicates, personal data, junk, odd Unicode
broken     lines that are not records, for ../../broken
container  files and back: JSON lines and text, gzip members, zstd frames, BOMs
record     a model of the reader: lines to texts and ids
text       a model of cleaning, quality and exact deduplication
pii        a model of masking, written from docs/pii.md
expect     runs the models over the files and writes what must come out
"""
