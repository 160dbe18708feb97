//! What the consumer makes of the samples, the same on both sides.

use tenshift_core::sample::{Sample, Tensor};

/// How many samples came, and the sum modulo 2^64 of two numbers of each: the bits
/// of the first f32 of `x`, and the i64 of a second field. It does not depend
/// on the order.
#[derive(Default)]
pub struct Tally {
    pub samples: usize,
    pub fold: u64,
}

impl Tally {
    /// Takes in one sample, or a collated one of many rows.
    pub fn add(&mut self, s: &Sample, second: &str, collated: bool) -> Result<(), String> {
        let (x, y) = (bytes(s, "x")?, bytes(s, second)?);
        let rows = if collated { shape(s, "x")?[0] } else { 1 };
        if rows == 0 || x.len() < 4 * rows || y.len() != 8 * rows {
            return Err(format!(
                "{rows} rows, {} bytes of x, {} of {second}",
                x.len(),
                y.len()
            ));
        }
        for (x, y) in x.chunks_exact(x.len() / rows).zip(y.as_chunks::<8>().0) {
            let bits = u32::from_le_bytes([x[0], x[1], x[2], x[3]]);
            self.fold = self
                .fold
                .wrapping_add(u64::from(bits))
                .wrapping_add(u64::from_le_bytes(*y));
        }
        self.samples += rows;
        Ok(())
    }
}

fn bytes<'a>(s: &'a Sample, name: &str) -> Result<&'a [u8], String> {
    Ok(field(s, name)?.as_bytes())
}

fn shape<'a>(s: &'a Sample, name: &str) -> Result<&'a [usize], String> {
    Ok(field(s, name)?.shape())
}

fn field<'a>(s: &'a Sample, name: &str) -> Result<&'a Tensor, String> {
    s.get(name).ok_or_else(|| format!("no field {name}"))
}
