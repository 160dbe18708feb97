//! What the pipelines read.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use tenshift_core::error::Result;
use tenshift_core::sample::{Sample, Tensor};
use tenshift_core::source::{Source, SourceIterator};
use tenshift_core::sources::MemorySource;

/// Sample `i`: `x` is f32 of so many times `i`, `y` is i64 of `i` modulo 10.
pub fn sample(i: usize, floats: usize) -> Sample {
    Sample::new()
        .with("x", Tensor::f32(&vec![i as f32; floats], vec![floats]))
        .with("y", Tensor::i64(&[(i % 10) as i64], vec![1]))
}

/// The library's source in memory, shared by the runs: neither filling nor freeing it
/// falls into their time.
#[derive(Clone)]
pub struct Memory {
    n: usize,
    floats: usize,
    source: Arc<MemorySource>,
}

impl Memory {
    pub fn new(n: usize, floats: usize) -> Self {
        let samples = (0..n).map(|i| sample(i, floats)).collect();
        Self {
            n,
            floats,
            source: Arc::new(MemorySource::new("memory", samples)),
        }
    }

    pub fn holds(&self, n: usize, floats: usize) -> bool {
        (self.n, self.floats) == (n, floats)
    }
}

impl Source for Memory {
    fn open(&self) -> Result<Box<dyn SourceIterator>> {
        self.source.open()
    }

    fn len_hint(&self) -> Option<u64> {
        self.source.len_hint()
    }

    fn name(&self) -> &str {
        self.source.name()
    }
}

/// A source of the samples from 1 to `n` that takes `pause` for each.
pub struct Slow {
    pub n: usize,
    pub pause: Duration,
}

impl Source for Slow {
    fn open(&self) -> Result<Box<dyn SourceIterator>> {
        let pause = self.pause;
        Ok(Box::new((1..=self.n).map(move |i| {
            sleep(pause);
            Ok(sample(i, 16))
        })))
    }

    fn name(&self) -> &str {
        "slow"
    }
}
