//! The pipelines that are timed.

use std::error::Error;
use std::hint::spin_loop;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use tenshift_core::error::{Error as CoreError, Result as CoreResult};
use tenshift_core::sample::{Sample, Tensor};
use tenshift_core::source::Source;
use tenshift_core::sources::JsonlSource;
use tenshift_core::{ErrorPolicy, Pipeline};

use crate::crc::Crc;
use crate::data::{Memory, Slow};
use crate::tally::Tally;

/// Floats of a sample, and of one that is summed.
const FLOATS: usize = 16;
const SUMMED_FLOATS: usize = 256;
/// How often a sample is summed: 10 KiB take about 22 us.
const SUMS: usize = 10;
const BATCH: usize = 32;
const SHUFFLE: usize = 1000;
const SEED: u64 = 42;
/// What a batch costs the slow consumer, and an element the slow source.
const CONSUMER: Duration = Duration::from_micros(500);
const SOURCE: Duration = Duration::from_millis(10);

static CRC: Crc = Crc::new();

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What one run did, and how long it took from start to the end of the stream.
pub struct Run {
    pub tally: Tally,
    pub seconds: f64,
}

/// Runs cases, and keeps the samples of the last one.
pub struct Runner {
    dir: PathBuf,
    memory: Option<Memory>,
}

impl Runner {
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, memory: None }
    }

    /// Runs a case once on `n` samples. Making them is outside of the time.
    pub fn run(&mut self, case: &str, workers: usize, n: usize) -> Outcome<Run> {
        let whole = Consumer {
            second: "y",
            collated: false,
            spin: Duration::ZERO,
            most: usize::MAX,
        };
        let collated = Consumer {
            collated: true,
            ..whole
        };
        match case {
            "passthrough" => whole.drain(from(self.samples(n, FLOATS), workers)),
            "map" => whole.drain(from(self.samples(n, FLOATS), workers).map(Ok)),
            "batch" => collated.drain(from(self.samples(n, FLOATS), workers).batch(BATCH)),
            "shuffle" => collated.drain(
                from(self.samples(n, FLOATS), workers)
                    .shuffle(SHUFFLE)
                    .seed(SEED)
                    .batch(BATCH),
            ),
            "jsonl" | "jsonl-tree" => {
                let parse = if case == "jsonl" { typed } else { tree };
                let lines = JsonlSource::new(self.lines(n)?);
                Consumer {
                    second: "label",
                    ..whole
                }
                .drain(from(lines, workers).map(parse).batch_raw(BATCH))
            }
            "cpu" => Consumer {
                second: "crc",
                ..whole
            }
            .drain(
                from(self.samples(n, SUMMED_FLOATS), workers)
                    .map(summed)
                    .batch_raw(BATCH),
            ),
            "consumer" => Consumer {
                spin: CONSUMER,
                ..collated
            }
            .drain(from(self.samples(n, FLOATS), workers).batch(BATCH)),
            "latency" => {
                Consumer { most: 1, ..whole }.drain(from(Slow { n, pause: SOURCE }, workers))
            }
            _ => Err(format!("no case {case}").into()),
        }
    }

    fn samples(&mut self, n: usize, floats: usize) -> Memory {
        if let Some(m) = self.memory.take_if(|m| m.holds(n, floats)) {
            return self.memory.insert(m).clone();
        }
        self.memory.insert(Memory::new(n, floats)).clone()
    }

    /// The file of `n` lines, which the driver wrote.
    fn lines(&self, n: usize) -> Outcome<PathBuf> {
        let path = self.dir.join(format!("lines-{n}.jsonl"));
        // Read once, so that it comes from the page cache on both sides.
        std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }
}

/// Takes the stream.
#[derive(Clone, Copy)]
struct Consumer {
    /// The field that is folded beside `x`.
    second: &'static str,
    collated: bool,
    /// How long it is busy with a batch, folding included.
    spin: Duration,
    /// It leaves after so many.
    most: usize,
}

impl Consumer {
    fn drain(&self, pipeline: Pipeline) -> Outcome<Run> {
        let mut tally = Tally::default();
        let start = Instant::now();
        let mut stream = pipeline.start()?;
        for group in stream.by_ref().take(self.most) {
            let arrived = Instant::now();
            for s in &group {
                tally.add(s, self.second, self.collated)?;
            }
            while !self.spin.is_zero() && arrived.elapsed() < self.spin {
                spin_loop();
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Run { tally, seconds })
    }
}

fn from(source: impl Source + 'static, workers: usize) -> Pipeline {
    Pipeline::from_source(source)
        .workers(workers)
        .on_error(ErrorPolicy::Fail)
}

/// Adds the checksum of `x`, taken over it `SUMS` times in a row.
fn summed(mut s: Sample) -> CoreResult<Sample> {
    let x = s.get("x").ok_or_else(|| failed("no field x"))?;
    let sum = (0..SUMS).fold(0, |sum, _| CRC.update(sum, x.as_bytes()));
    s.insert("crc", Tensor::i64(&[i64::from(sum)], vec![1]));
    Ok(s)
}

/// Parses a line into just what is wanted; what else it holds is checked and skipped.
fn typed(s: Sample) -> CoreResult<Sample> {
    #[derive(Deserialize)]
    struct Row {
        label: i64,
        x: Vec<f32>,
    }
    let row: Row = serde_json::from_slice(json(&s)?).map_err(failed)?;
    Ok(row_sample(row.x, row.label))
}

/// Parses a line into a tree of values.
fn tree(s: Sample) -> CoreResult<Sample> {
    let row: Value = serde_json::from_slice(json(&s)?).map_err(failed)?;
    let x = row["x"].as_array().ok_or_else(|| failed("x is no array"))?;
    let x: Option<Vec<f32>> = x.iter().map(|v| v.as_f64().map(|v| v as f32)).collect();
    let x = x.ok_or_else(|| failed("x holds more than numbers"))?;
    let label = row["label"]
        .as_i64()
        .ok_or_else(|| failed("label is no integer"))?;
    Ok(row_sample(x, label))
}

fn json(s: &Sample) -> CoreResult<&[u8]> {
    Ok(s.get("json")
        .ok_or_else(|| failed("no field json"))?
        .as_bytes())
}

fn row_sample(x: Vec<f32>, label: i64) -> Sample {
    Sample::new()
        .with("x", Tensor::f32(&x, vec![x.len()]))
        .with("label", Tensor::i64(&[label], vec![1]))
}

fn failed(reason: impl ToString) -> CoreError {
    CoreError::TransformFailed {
        index: 0,
        reason: reason.to_string(),
    }
}
