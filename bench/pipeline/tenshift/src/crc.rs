//! A load of the CPU that is the same in every language.

/// CRC-32 (reflected polynomial 0xEDB88320), a byte at a time by table.
pub struct Crc([u32; 256]);

impl Crc {
    pub const fn new() -> Self {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut c = i as u32;
            let mut bit = 0;
            while bit < 8 {
                c = if c & 1 == 1 {
                    0xEDB8_8320 ^ (c >> 1)
                } else {
                    c >> 1
                };
                bit += 1;
            }
            table[i] = c;
            i += 1;
        }
        Self(table)
    }

    /// The checksum of what `sum` belongs to, followed by `b`.
    pub fn update(&self, sum: u32, b: &[u8]) -> u32 {
        let mut c = !sum;
        for &x in b {
            c = self.0[usize::from(c as u8 ^ x)] ^ (c >> 8);
        }
        !c
    }
}

#[cfg(test)]
mod tests {
    use super::Crc;

    #[test]
    fn published_check_value() {
        assert_eq!(Crc::new().update(0, b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn goes_on() {
        let crc = Crc::new();
        assert_eq!(crc.update(crc.update(0, b"1234"), b"56789"), 0xCBF4_3926);
    }
}
