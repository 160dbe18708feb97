"""The jobs as luminamoon does them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import luminamoon.data as lm

import dataset
from measure import Job, encoded, flags, hashes, spans

BATCH = 1024  # records a step of the JSONL loop


def version() -> str:
    return f"{lm.get_version()} ({lm.data_cpu_isa()})"


def column_jobs(data: str, path: Path) -> Iterator[Job]:
    rows, twin = dataset.read_column(path), lm.StringTensor(dataset.read_column(path))
    offsets, payload = dataset.read_buffers(path)
    column, prefix = lm.StringTensor(rows), rows[5][:3]
    job = partial(Job, data=data, items=len(rows), bytes=len(payload))
    yield job("from strings", form="list", run=lambda: lm.StringTensor(rows), rows=tensor)
    yield job(
        "from offsets",
        form="numpy",
        run=lambda: lm.StringTensor.from_gpu_buffers(offsets, payload),
        rows=tensor,
    )
    yield job("equal", form="tensor", run=lambda: column == twin, rows=lambda same: flags([same]))
    # It has no forms that use the caller's memory: the ones it has stand in those rows too.
    for name in ("prefix", "prefix select"):
        yield job(name, form="tensor", run=lambda: column.filter_by_prefix(prefix), rows=tensor)
    for name in ("pack", "pack into"):
        yield job(name, form="tensor", run=column.to_gpu_buffers, rows=packed)
    yield job("hash", form="tensor", run=column.hash_all, rows=hashes)


def text_jobs(data: str, path: Path) -> Iterator[Job]:
    rows = dataset.read_column(path)
    size = sum(len(row.encode()) for row in rows)
    job = partial(Job, data=data, items=len(rows), bytes=size)
    cleaner, quality = lm.TextCleaner(), lm.QualityFilter.for_pretraining()
    masker = lm.PIIMasker()
    mail = lm.PIIMasker(mask_ips=False, mask_api_keys=False, mask_cards=False)
    yield job("clean", form="batch", run=lambda: cleaner.clean_batch(rows), rows=encoded)
    yield job("clean", form="fused", run=lambda: lm.FusedPipeline()(rows), rows=tensor)
    yield job("quality", form="batch", run=lambda: quality.filter_flags(rows), rows=flags)
    yield job(
        "dedup",
        form="batch",
        run=lambda: lm.StreamDeduplicator().filter_batch(rows),
        rows=encoded,
    )
    yield job("pii", form="batch", run=lambda: masker.mask_batch(rows), rows=encoded)
    yield job("pii email", form="batch", run=lambda: mail.mask_batch(rows), rows=encoded)
    yield job("fused", form="fused", run=lambda: fused()(rows), rows=tensor)
    yield job(
        "fused + pii",
        form="fused, then mask_batch",
        run=lambda: masker.mask_batch(fused()(rows).to_list()),
        rows=encoded,
    )


def file_jobs(data: str, path: Path, out: Path) -> Iterator[Job]:
    if data != "docs":
        return
    job = partial(Job, data=data, items=count_lines(path), bytes=path.stat().st_size)
    for name, masker in (("jsonl", None), ("jsonl + pii", lm.PIIMasker())):
        yield job(
            name,
            form="Python loop over batches",
            run=partial(clean_file, path, out, masker),
            rows=lambda _: records(out),
        )


def fused() -> lm.FusedPipeline:
    """Clean, quality as `for_pretraining` has it, dedup against nothing yet seen."""
    return lm.FusedPipeline(
        filter_quality=True,
        min_chars=20,
        min_words=3,
        min_entropy=2.5,
        max_repetition_ratio=0.35,
        max_symbol_ratio=0.3,
        deduplicator=lm.StreamDeduplicator(),
    )


def clean_file(path: Path, out: Path, masker: lm.PIIMasker | None) -> None:
    """JSONL to JSONL. The fused call gives no row numbers, so ids would be lost: the stages run
    apart, each on a batch where it can say which rows it kept."""
    cleaner, quality = lm.TextCleaner(), lm.QualityFilter.for_pretraining()
    dedup = lm.StreamDeduplicator()
    with path.open(encoding="utf-8") as source, out.open("w", encoding="utf-8") as sink:
        while lines := list(itertools.islice(source, BATCH)):
            batch = [json.loads(line) for line in lines]
            texts = cleaner.clean_batch([record["text"] for record in batch])
            good = quality.filter_flags(texts)
            kept = [
                (record["id"], text)
                for record, text, ok in zip(batch, texts, good, strict=True)
                if ok and dedup.is_unique(text)
            ]
            texts = [text for _, text in kept]
            if masker:
                texts = masker.mask_batch(texts)
            for (key, _), text in zip(kept, texts, strict=True):
                sink.write(json.dumps({"id": key, "text": text}, ensure_ascii=False) + "\n")


def count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def tensor(result: lm.StringTensor) -> Iterable[bytes]:
    return encoded(result.to_list())


def packed(result: tuple[bytes, bytes]) -> Iterable[bytes]:
    offsets, payload = result
    return spans(memoryview(offsets).cast("I"), payload)


def records(path: Path) -> Iterator[bytes]:
    """The rows of a JSONL output: id and text."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield f"{record['id']}\t{record['text']}".encode()
