package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	r := &report{
		State: stateInterrupted, Seconds: 2,
		totals: totals{
			Records: recordTotals{In: 1234567, Out: 1000000, Dropped: 234567},
			Bytes:   byteTotals{Read: 5, TextIn: 7000000, TextOut: 6000000, Written: 8},
			Stages: []stageTotals{
				{Name: "source", In: 1234567, Out: 1234560, Dropped: map[string]int64{"null": 3, "bad_json": 4}},
				{Name: "pii", In: 1234560, Out: 1234560, Masked: map[string]int64{"ip": 1200}},
			},
		},
	}
	r.Throughput = newThroughput(&r.totals, r.Seconds)
	var b bytes.Buffer
	require.NoError(t, writeTable(&b, r))
	require.Equal(t, ""+
		"rosaline run: interrupted after 2.00 s\n"+
		"                     in        out  dropped\n"+
		"     records  1,234,567  1,000,000  234,567\n"+
		"  text bytes  7,000,000  6,000,000\n"+
		"  file bytes          5          8\n"+
		"\n"+
		"   stage         in       kept  dropped\n"+
		"  source  1,234,567  1,234,560        7  bad_json 4, null 3\n"+
		"     pii  1,234,560  1,234,560        0  ip masked 1,200\n"+
		"\n"+
		"3.5 MB/s of text, 617,283 records/s\n", b.String())
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567890: "1,234,567,890"} {
		require.Equal(t, want, thousands(n))
	}
}

func TestRateOfNoTime(t *testing.T) { require.Zero(t, rate(5, 0)) }
