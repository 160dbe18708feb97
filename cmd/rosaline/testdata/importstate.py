"""Runs luminamoon over a part of a corpus: importstate.py JSONL FOLDER BATCHES PREFETCH.

It takes rows as a user does, commits each batch, and leaves in FOLDER the checkpoint ck, the
dedup file ck.hashes, and out.jsonl, the texts that were delivered.
"""

import json
import sys

import luminamoon

source, folder, batches, prefetch = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


class Rows:
    def __iter__(self):
        with open(source, encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield json.loads(line)["text"]


dedup = luminamoon.StreamDeduplicator(wal_path=folder + "/ck.hashes")
pipeline = luminamoon.ResumablePipeline(
    Rows(),
    checkpoint_path=folder + "/ck",
    cleaner=luminamoon.TextCleaner(),
    deduplicator=dedup,
    batch_size=3,
    prefetch_batches=prefetch,
)
with open(folder + "/out.jsonl", "w", encoding="utf-8") as out:
    for n, batch in enumerate(pipeline):
        if n == batches:
            break
        for text in batch:
            out.write(json.dumps({"text": text}) + "\n")
        pipeline.commit()
