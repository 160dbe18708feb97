package sample

import "testing"

// 32 samples of x f32[16] and y i64[1] become a batch.
func BenchmarkDefaultCollate(b *testing.B) {
	batch := pairs(32)
	b.ReportAllocs()
	b.SetBytes(32 * (16*4 + 8))
	for b.Loop() {
		if _, err := DefaultCollate(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(32*b.N)/b.Elapsed().Seconds(), "samples/s")
}
