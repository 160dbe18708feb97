package source

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func gzipped(parts ...string) []byte {
	var out bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&out)
		w.Write([]byte(p))
		w.Close()
	}
	return out.Bytes()
}

func zstded(parts ...string) []byte {
	var out bytes.Buffer
	for _, p := range parts {
		w, _ := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		w.Write([]byte(p))
		w.Close()
	}
	return out.Bytes()
}

// skippableFrame is a zstd frame that decoders pass over.
func skippableFrame(kind byte, data string) string {
	head := []byte{0x50 | kind, 0x2a, 0x4d, 0x18}
	return string(binary.LittleEndian.AppendUint32(head, uint32(len(data)))) + data
}

func TestMembersAndFrames(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	for _, c := range []struct {
		name  string
		parts []string
		want  []string
		boms  int64
	}{
		{"one", []string{"a\nb\n"}, []string{"a", "b"}, 0},
		{"all are read", []string{"a\n", "b\n", "c"}, []string{"a", "b", "c"}, 0},
		{"a line over a border", []string{"a\nb", "c\n"}, []string{"a", "bc"}, 0},
		{"empty ones", []string{"", "a\n", "", "", "b\n", ""}, []string{"a", "b"}, 0},
		{"only empty", []string{"", ""}, []string{}, 0},
		{"a mark each", []string{bom + "a\n", bom + "b\n", "c\n", bom + "d"}, []string{"a", "b", "c", "d"}, 3},
		{"no mark inside a line", []string{"a", bom + "b\n"}, []string{"a" + bom + "b"}, 0},
		{"marks alone", []string{bom, bom + "a\n", bom}, []string{"a"}, 3},
		{"a split mark is text", []string{"\xef", "\xbb\xbfa\n"}, []string{"\xef\xbb\xbfa"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := strings.Join(c.parts, "")
			for name, data := range map[string][]byte{"gzip": gzipped(c.parts...), "zstd": zstded(c.parts...)} {
				for split, wrap := range splitReaders {
					g := gather(t, stdin(wrap(bytes.NewReader(data)), WithChunkLines(2)))
					require.Empty(t, g.errs, name)
					require.Equal(t, c.want, g.texts(), "%s, %s", name, split)
					require.Equal(t, c.boms, g.boms, name)
					require.Equal(t, int64(len(whole)), g.bytes, name)
				}
			}
		})
	}
}

func TestPlacesAfterMarksInsideAStream(t *testing.T) {
	g := gather(t, stdin(bytes.NewReader(gzipped("\xef\xbb\xbfa\n", "\xef\xbb\xbf", "\xef\xbb\xbfb\nc\n"))))
	var offsets []int64
	for _, l := range g.lines {
		offsets = append(offsets, l.Pos.Offset)
	}
	require.Equal(t, []int64{0, 5, 13}, offsets)
}

func TestSkippableFrames(t *testing.T) {
	skip := func(n int) string { return skippableFrame(byte(n), strings.Repeat("s", n*10_000)) }
	data := skip(0) + string(zstded("a\n")) + skip(3) + skip(15) + string(zstded("b\n")) + skip(1)
	g := gather(t, stdin(strings.NewReader(data)))
	require.Empty(t, g.errs)
	require.Equal(t, []string{"a", "b"}, g.texts())

	g = gather(t, stdin(strings.NewReader(skip(2))))
	require.Empty(t, g.errs)
	require.Empty(t, g.lines)
}

func TestContentDecidesOverTheName(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		want []string
		err  error
	}{
		{"gzip.txt", string(gzipped("a\n")), []string{"a"}, nil},
		{"zstd.txt", string(zstded("a\n")), []string{"a"}, nil},
		{"zstd.txt.gz", string(zstded("a\n")), []string{"a"}, nil},
		{"gzip.txt.zst", string(gzipped("a\n")), []string{"a"}, nil},
		{"plain.txt.gz", "a\nb\n", []string{}, ErrCorrupt},
		{"plain.txt.zst", "a\nb\n", []string{}, ErrCorrupt},
		{"short.txt.zst", "a\n", []string{}, ErrCorrupt},
		{"empty.txt.gz", "", []string{}, ErrTruncated},
		{"empty.txt.zst", "", []string{}, ErrTruncated},
		{"one.txt.gz", "\x1f", []string{}, ErrTruncated},
		{"three.txt.zst", "\x28\xb5\x2f", []string{}, ErrTruncated},
		{"three.skip.txt.zst", "\x5f\x2a\x4d", []string{}, ErrTruncated},
		{"empty.txt", "", []string{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{c.name: c.data})
			inputs, err := Expand([]string{dir}, FormatAuto)
			require.NoError(t, err)
			g := gather(t, newReader(inputs))
			require.Equal(t, c.want, g.texts())
			if c.err == nil {
				require.Empty(t, g.errs)
				return
			}
			require.Len(t, g.errs, 1)
			require.ErrorIs(t, g.errs[0], c.err)
			require.Contains(t, g.errs[0].Error(), inputs[0].Path+":1: at byte 0, compressed byte")
		})
	}
	t.Run("not looked at when told so", func(t *testing.T) {
		in := []Input{{Path: Stdin, Format: FormatText, Compression: CompressionNone}}
		data := gzipped("a\n")
		g := gather(t, newReader(in, WithStdin(bytes.NewReader(data))))
		require.Equal(t, scanLines(t, data), g.texts())
	})
}

// prefixOf returns what compress/flate can read of a cut gzip stream of one
// member whose header has no optional fields.
func prefixOf(data []byte) string {
	const header = 10
	if len(data) < header {
		return ""
	}
	out, _ := io.ReadAll(flate.NewReader(bytes.NewReader(data[header:])))
	return string(out)
}

// wholeLines returns the lines of s that have an end.
func wholeLines(s string) []string {
	lines := strings.Split(s, "\n")
	return lines[:len(lines)-1]
}

func TestGzipCutAtEveryByte(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "line %d of some text, %x\n", i, i*i*7919)
	}
	text.WriteString("the last line has no end")
	data := gzipped(text.String())
	grown := 0
	for n := range data {
		g := gather(t, stdin(bytes.NewReader(data[:n])))
		want := wholeLines(prefixOf(data[:n]))
		if n < 2 {
			// Too little to know it for gzip: n bytes of text.
			require.Empty(t, g.errs)
			continue
		}
		got := g.texts()
		// Two decoders may look ahead by different numbers of bits.
		require.GreaterOrEqual(t, len(got), len(wholeLines(prefixOf(data[:n-min(n, 2)]))), "cut at %d", n)
		require.LessOrEqual(t, len(got), len(want), "cut at %d", n)
		require.Equal(t, append([]string{}, want[:len(got)]...), got, "cut at %d", n)
		require.Len(t, g.errs, 1)
		require.ErrorIs(t, g.errs[0], ErrTruncated, "cut at %d", n)
		require.Contains(t, g.errs[0].Error(), fmt.Sprintf("compressed byte %d", n))
		require.Contains(t, g.errs[0].Error(), fmt.Sprintf("-:%d:", len(got)+1))
		grown = max(grown, len(got))
	}
	require.Equal(t, 40, grown, "the lines before the cut must arrive")
	require.Len(t, gather(t, stdin(bytes.NewReader(data))).lines, 41)
}

func TestGzipCutInTheSecondMember(t *testing.T) {
	first := gzipped("a\nb\nopen")
	data := append(first, gzipped("ed\nc\n")...)
	for n := len(first); n < len(data); n++ {
		g := gather(t, stdin(bytes.NewReader(data[:n])))
		if n == len(first) {
			require.Empty(t, g.errs)
			require.Equal(t, []string{"a", "b", "open"}, g.texts())
			continue
		}
		require.Len(t, g.errs, 1, "cut at %d", n)
		require.ErrorIs(t, g.errs[0], ErrTruncated)
		require.GreaterOrEqual(t, len(g.lines), 2)
		require.NotContains(t, g.texts(), "open")
	}
}

// A writer that flushes after each line says up to which byte each line is
// readable.
func TestZstdCutAtEveryByte(t *testing.T) {
	for _, checksum := range []bool{true, false} {
		var out bytes.Buffer
		w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(checksum), zstd.WithWindowSize(1<<10))
		require.NoError(t, err)
		var ends []int
		for i := range 12 {
			_, err := fmt.Fprintf(w, "line %d %x\n", i, i*i*7919)
			require.NoError(t, err)
			require.NoError(t, w.Flush())
			ends = append(ends, out.Len())
		}
		require.NoError(t, w.Close())
		data := out.Bytes()
		for n := 4; n < len(data); n++ {
			want := 0
			for want < len(ends) && ends[want] <= n {
				want++
			}
			for _, frames := range [][]byte{data[:n], append(zstded("first\n"), data[:n]...)} {
				g := gather(t, stdin(bytes.NewReader(frames)))
				lines := want
				if len(frames) > n {
					lines++
				}
				require.Len(t, g.lines, lines, "cut at %d", n)
				require.Len(t, g.errs, 1)
				require.ErrorIs(t, g.errs[0], ErrTruncated, "cut at %d", n)
			}
		}
	}
}

// The data of a frame are whole once its last block is, checksum or not.
func TestZstdCutInTheChecksum(t *testing.T) {
	data := zstded("a\nb\n")
	for n := len(data) - 4; n < len(data); n++ {
		g := gather(t, stdin(bytes.NewReader(data[:n])))
		require.Equal(t, []string{"a", "b"}, g.texts())
		require.Len(t, g.errs, 1)
		require.ErrorIs(t, g.errs[0], ErrTruncated)
	}
}

// The last block is larger than what is read at a time.
func TestZstdCutInTheChecksumOfALargeBlock(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 8000)
	data := zstded(text)
	g := gather(t, stdin(bytes.NewReader(data[:len(data)-1])))
	require.Equal(t, 8000, len(g.lines))
	require.Len(t, g.errs, 1)
	require.ErrorIs(t, g.errs[0], ErrTruncated)
	require.Contains(t, g.errs[0].Error(), "at byte 128000")
}

// Blocks put together by hand after RFC 8878. The mark of the second frame is
// only taken off if the end of the first is found.
func TestZstdBlocks(t *testing.T) {
	frame := "\x28\xb5\x2f\xfd\x00\x00" + // no checksum, no size, window 1 KiB
		"\x20\x00\x00\xef\xbb\xbfa" + // raw, 4 bytes
		"\x22\x03\x00b" + // repeated, 100 times
		"\x00\x00\x00" + // raw, empty
		"\x13\x00\x00\n" // last, repeated twice
	line := "a" + strings.Repeat("b", 100)
	g := gather(t, stdin(strings.NewReader(frame+frame)))
	require.Empty(t, g.errs)
	require.Equal(t, []string{line, "", line, ""}, g.texts())
	require.Equal(t, int64(2), g.boms)
}

func TestZstdCutInASkippableFrame(t *testing.T) {
	data := string(zstded("a\n")) + skippableFrame(0, "0123456789")
	for n := len(zstded("a\n")) + 1; n < len(data); n++ {
		g := gather(t, stdin(strings.NewReader(data[:n])))
		require.Equal(t, []string{"a"}, g.texts())
		require.Len(t, g.errs, 1)
		require.ErrorIs(t, g.errs[0], ErrTruncated, "cut at %d", n)
	}
}

// A whole line at the cut of a compressed stream is delivered, an unfinished one
// is not; in a plain stream nothing tells the cut from the end.
func TestUnfinishedLineOfACutStream(t *testing.T) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write([]byte("whole\nunfinished"))
	w.Flush()
	g := gather(t, stdin(bytes.NewReader(out.Bytes())))
	require.Equal(t, []string{"whole"}, g.texts())
	require.ErrorIs(t, g.errs[0], ErrTruncated)
	require.Contains(t, g.errs[0].Error(), "an unfinished line was not delivered, its length in bytes: 10")
	require.Equal(t, int64(6), g.bytes)
	require.NoError(t, w.Close())
}

func TestAfterTheCompressedData(t *testing.T) {
	for name, data := range map[string][]byte{"gzip": gzipped("a\n"), "zstd": zstded("a\n")} {
		g := gather(t, stdin(bytes.NewReader(append(append([]byte{}, data...), "junk"...))))
		require.Equal(t, []string{"a"}, g.texts(), name)
		require.ErrorIs(t, g.errs[0], ErrCorrupt, name)
		require.Contains(t, g.errs[0].Error(), fmt.Sprintf("compressed byte %d", len(data)), name)
	}
	data := append(gzipped("a\n"), make([]byte, 200_000)...)
	g := gather(t, stdin(bytes.NewReader(data)))
	require.Empty(t, g.errs, "zeros after gzip are padding")
	require.Equal(t, []string{"a"}, g.texts())
	g = gather(t, stdin(bytes.NewReader(append(data, 1))))
	require.ErrorIs(t, g.errs[0], ErrCorrupt)
	g = gather(t, stdin(bytes.NewReader(append(zstded("a\n"), 0, 0, 0, 0))))
	require.ErrorIs(t, g.errs[0], ErrCorrupt, "zstd knows no padding")
}

// With a checksum every flipped bit is found: the lines are right or there is an
// error.
func TestFlippedBits(t *testing.T) {
	var text strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		fmt.Fprintf(&text, "%x\n", r.Uint64())
	}
	want := wholeLines(text.String())
	for name, data := range map[string][]byte{"gzip": gzipped(text.String()), "zstd": zstded(text.String())} {
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << (i % 8)
			in := []Input{{Path: Stdin, Compression: CompressionGzip}}
			if name == "zstd" {
				in[0].Compression = CompressionZstd
			}
			g := gather(t, newReader(in, WithStdin(bytes.NewReader(bad)), WithMaxWindow(8<<20)))
			if len(g.errs) == 0 {
				// Header bits that carry no data, such as the time of a gzip member.
				require.Equal(t, want, g.texts(), "%s, byte %d", name, i)
			}
		}
	}
	// A flip in the checksum itself is damage after the last line.
	bad := gzipped("a\n")
	bad[len(bad)-8] ^= 1
	g := gather(t, stdin(bytes.NewReader(bad)))
	require.ErrorIs(t, g.errs[0], ErrCorrupt)
	require.Equal(t, []string{"a"}, g.texts())
}

func TestZstdWindowCap(t *testing.T) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(4<<20))
	require.NoError(t, err)
	_, err = w.Write(bytes.Repeat([]byte("0123456789abcde\n"), 1<<19))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	g := gather(t, stdin(bytes.NewReader(out.Bytes()), WithMaxWindow(4<<20)))
	require.Empty(t, g.errs)
	require.Len(t, g.lines, 1<<19)
	g = gather(t, stdin(bytes.NewReader(out.Bytes()), WithMaxWindow(4<<20-1)))
	require.Empty(t, g.lines)
	require.ErrorIs(t, g.errs[0], ErrWindow)

	// The largest window the format can state: refused before any is allocated.
	for _, head := range []string{
		"\x28\xb5\x2f\xfd\x00\xff",                                 // window descriptor
		"\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x00", // one segment of 2⁶⁴−1 bytes
		"\x28\xb5\x2f\xfd\xa0\xff\xff\xff\xff\x00",                 // one segment of 2³²−1 bytes
	} {
		g = gather(t, stdin(strings.NewReader(head)))
		require.ErrorIs(t, g.errs[0], ErrWindow)
	}
}

func TestZstdDictionaryIsRefused(t *testing.T) {
	g := gather(t, stdin(strings.NewReader("\x28\xb5\x2f\xfd\x21\x07\x01\x09\x00\x00a")))
	require.ErrorIs(t, g.errs[0], ErrCorrupt)
	require.Contains(t, g.errs[0].Error(), "needs a dictionary")
}

// One small input that expands without end is read in bounded memory.
func TestBomb(t *testing.T) {
	const length = 64 << 20
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = io.Copy(w, &zeros{left: length})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	g := gather(t, stdin(&out, WithMaxLine(1<<20)))
	require.Equal(t, []string{"<too long>"}, g.texts())
	require.Equal(t, int64(length), g.lines[0].Length)
}

// The files of other programs: members by gzip, a frame by zstd, as recorded.
func TestFilesOfOtherPrograms(t *testing.T) {
	for _, name := range []string{"cat.txt.gz", "cat.txt.zst"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		g := gather(t, stdin(bytes.NewReader(data)))
		require.Empty(t, g.errs)
		require.Equal(t, []string{"first file", "second file", "third file, no end"}, g.texts())
		require.Equal(t, int64(2), g.boms)
	}
}
