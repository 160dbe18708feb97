package source

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// commonWET is a file as Common Crawl writes them, three records and one that tells of the
// file.
func commonWET() []string {
	record := func(kind, uri, id, mime, text string) string {
		return "WARC/1.0\r\nWARC-Type: " + kind + "\r\nWARC-Target-URI: " + uri + "\r\nWARC-Date: 2024-05-01T00:00:00Z\r\n" +
			"WARC-Record-ID: <urn:uuid:" + id + ">\r\nContent-Type: " + mime + "\r\n" +
			fmt.Sprintf("Content-Length: %d\r\n\r\n%s\r\n\r\n", len(text), text)
	}
	return []string{
		record("warcinfo", "", "0", "application/warc-fields", "Software-Info: x\r\n"),
		record("conversion", "http://a.example/", "1", "text/plain", "first\ntext"),
		record("response", "http://b.example/", "2", "application/http; msgtype=response", "HTTP/1.1 200 OK\r\n\r\n<p>WARC/1.0</p>"),
		record("resource", "http://c.example/", "3", "text/plain; charset=utf-8", ""),
		record("resource", "http://d.example/", "4", "image/png", "\x89PNG"),
		record("conversion", "http://e.example/", "5", "text/plain", "日本語\r\n\r\nWARC/1.0\r\n"),
	}
}

func TestWARC(t *testing.T) {
	records := commonWET()
	all := strings.Join(records, "")
	dir := writeFiles(t, map[string]string{
		"plain.warc": all, "members.warc.gz": zip(t, records...), "one.wet.gz": zip(t, all), "lf.warc": strings.ReplaceAll(warcOf("conversion", "x", "t"), "\r\n", "\n"),
	})
	for _, name := range []string{"plain.warc", "members.warc.gz", "one.wet.gz"} {
		for _, rows := range []int{1, 2, 100} {
			d := newDecoder(t, WithMetadata(AllMetadata))
			got := takeChunks(t, []Input{{Path: dir + "/" + name}}, nil, d, WithChunkLines(rows))
			require.NoError(t, got.err)
			require.Equal(t, []string{"first\ntext", "", "日本語\r\n\r\nWARC/1.0\r\n"}, got.texts)
			require.Equal(t, []string{"urn:uuid:1", "urn:uuid:3", "urn:uuid:5"}, got.ids)
			require.Equal(t, int64(3), got.stats.Skipped)
			require.Equal(t, int64(len(all)), got.stats.Bytes)
		}
	}
	got := takeChunks(t, []Input{{Path: dir + "/lf.warc"}}, nil, newDecoder(t))
	require.Equal(t, []string{"x t"}, got.rows)
	got = takeChunks(t, []Input{{Path: dir + "/plain.warc"}}, nil, newDecoder(t, WithIDKey("uri")), WithMaxLine(9))
	require.Equal(t, "http://c.example/ ", got.rows[1])
	require.Equal(t, []string{dir + "/plain.warc:1 row_too_long", dir + "/plain.warc:3 row_too_long"}, got.bad)
}

// TestWARCErrors: what is whole before comes first, and the error says where it is.
func TestWARCErrors(t *testing.T) {
	good := warcOf("conversion", "good", "text")
	for name, c := range map[string]struct {
		rest string
		is   error
		say  string
	}{
		"too short a length": {"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 3\r\n\r\nlonger\r\n\r\n", ErrWARC, "whose length must be wrong"},
		"too long a length":  {"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 99\r\n\r\nshort\r\n\r\n", ErrTruncated, "get the whole file"},
		"a huge length":      {"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9223372036854775807\r\n\r\nshort", ErrTruncated, "get the whole file"},
		"a huge text":        {"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 16000000\r\n\r\nshort", ErrTruncated, "get the whole file"},
		"a number":           {"WARC/1.0\r\nContent-Length: -1\r\n\r\n", ErrWARC, "is not a length"},
		"no length":          {"WARC/1.0\r\nWARC-Type: conversion\r\n\r\n", ErrWARC, "without Content-Length"},
		"no record":          {"<html>\r\n", ErrWARC, "WARC/1.0"},
		"a long header":      {"WARC/1.0\r\n" + strings.Repeat("A: b\r\n", 20000), ErrWARC, "header of more than"},
		"a long line":        {"WARC/1.0\r\nA: " + strings.Repeat("x", 100000), ErrWARC, "header of more than"},
		"cut in the header":  {"WARC/1.0\r\nWARC-Ty", ErrTruncated, "get the whole file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"a.warc": good + c.rest})
			got := takeChunks(t, []Input{{Path: dir + "/a.warc"}}, nil, newDecoder(t))
			require.Equal(t, []string{"good text"}, got.rows)
			require.ErrorIs(t, got.err, c.is)
			require.ErrorContains(t, got.err, c.say)
			require.ErrorContains(t, got.err, "a.warc")
		})
	}
}

// TestWARCCuts cuts a file at every byte: what comes is a part of what there is, and
// nothing is missing without an error but where a record ends.
func TestWARCCuts(t *testing.T) {
	all := strings.Join(commonWET(), "")
	whole := warcRecords(t, all)
	for n := range all {
		got, err := warcRows(all[:n])
		require.Equal(t, whole[:len(got)], append([]string{}, got...))
		if err == nil {
			rest, err := warcRows(all[n:])
			require.NoError(t, err, "cut at %d", n)
			require.Equal(t, whole[len(got):], append([]string{}, rest...))
		}
	}
}

func warcRecords(t testing.TB, text string) []string {
	rows, err := warcRows(text)
	require.NoError(t, err)
	return rows
}

// warcRows scans a stream and returns ids and blocks of all records.
func warcRows(text string) (rows []string, err error) {
	raw := newRawReader()
	raw.reset(strings.NewReader(text), 0, new(atomicBytes))
	s := newWARCScanner(&tableStream{raw: raw, parts: &plainMembers{rawReader: raw}})
	for {
		if err := s.next(); err != nil {
			if err == io.EOF {
				return rows, nil
			}
			return rows, err
		}
		block, err := s.appendBlock(nil)
		if err == nil {
			err = s.skip()
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, s.record.id+" "+string(block))
	}
}

// TestWARCRoundTrip: whatever blocks hold, they come back.
func TestWARCRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all strings.Builder
		want := []string{}
		for i, block := range rapid.SliceOf(rapid.SampledFrom([]string{"", "x", "\r\n", "WARC/1.0\r\n", strings.Repeat("y", 70000)})).Draw(t, "blocks") {
			all.WriteString(warcOf("conversion", fmt.Sprint(i), block))
			want = append(want, fmt.Sprintf("%d %s", i, block))
		}
		got, err := warcRows(all.String())
		require.NoError(t, err)
		require.Equal(t, want, append([]string{}, got...))
	})
}

// FuzzWARC: no input makes the scanner fail otherwise than by an error, or hand out more
// than the input holds.
func FuzzWARC(f *testing.F) {
	for _, r := range commonWET() {
		f.Add(r)
	}
	f.Add("WARC/1.1\nContent-Length: 1\n\nab")
	f.Fuzz(func(t *testing.T, text string) {
		rows, _ := warcRows(text)
		size := 0
		for _, r := range rows {
			size += len(r)
		}
		require.LessOrEqual(t, size, 2*len(text)+len(rows))
	})
}
