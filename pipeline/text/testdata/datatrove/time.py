#!/usr/bin/env python3
"""Times datatrove's rules on the English texts of records.jsonl.gz, in CPU time.

Needs what record.py needs. The same texts are those of BenchmarkRules.
"""

import gzip
import json
import time

from datatrove.data import Document
from datatrove.pipeline.filters import C4QualityFilter, FineWebQualityFilter, GopherQualityFilter, GopherRepetitionFilter

with gzip.open("records.jsonl.gz", "rt") as f:
    texts = [r["text"] for r in map(json.loads, f) if r["id"].split("/")[0] in ("english", "joined", "sentences")]
size = sum(len(t.encode()) for t in texts)
gopher = [GopherQualityFilter(), GopherRepetitionFilter()]
for name, filters in {"gopher": gopher, "c4": [C4QualityFilter()], "fineweb": [FineWebQualityFilter()]}.items():
    run = lambda t: all(f.filter(Document(text=t, id="x")) is True for f in filters)  # noqa: E731
    run(texts[0])
    start = time.process_time()
    for t in texts:
        run(t)
    print(f"{name}: {size / (time.process_time() - start) / 1e6:.2f} MB/s")
