package main

// crcTable is that of CRC-32 with the reflected polynomial 0xEDB88320.
var crcTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i)
		for range 8 {
			if c&1 == 1 {
				c = 0xEDB88320 ^ c>>1
			} else {
				c >>= 1
			}
		}
		t[i] = c
	}
	return t
}()

// updateCRC returns the checksum of what sum belongs to, followed by b. It takes a byte
// at a time by table, unlike hash/crc32: a load of the CPU that is the same in
// every language.
func updateCRC(sum uint32, b []byte) uint32 {
	c := ^sum
	for _, x := range b {
		c = crcTable[byte(c)^x] ^ c>>8
	}
	return ^c
}
