package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// input is a stream of tokens, of a length that is given.
type input struct {
	name   string
	kind   kind
	tokens func(n int) ([]int64, error)
}

// kind is what an input is for.
type kind string

const (
	usual kind = "usual" // all that is measured beside the other system
	worst kind = "worst" // made to be slow
	burst kind = "burst" // made for one step that is slow
)

// inputs are those of the comparison, and those that are made to be slow, or to have a slow step.
var inputs = []input{
	{"random bytes", usual, random(1, 256)},
	{"random 4-bit", usual, random(2, 16)},
	{"random 1-bit", usual, random(3, 2)},
	{"English", usual, library(comments)},
	{"source code", usual, library(func(src []byte) []byte { return src })},
	{"period 16", usual, each(func(i, _ int) int64 { return int64(i % 16 * (i % 16) % 11) })},
	{"Fibonacci", usual, fibonacci},
	{"unary", usual, each(func(int, int) int64 { return 0 })},
	{"65,536 ids", usual, random(4, 65536)},

	// a^k c with k at random up to 4000.
	{"combs", worst, combs},
	// a b aa b aaa b …
	{"stairs", worst, stairs},
	// a^1999 c_j: nodes that get one leaf more, and are never split.
	{"a^k c_j", worst, each(func(i, _ int) int64 { return int64(max(0, i%2000-1998) * (1 + i/2000%255)) })},
	// a^(n/2) b a^(n/2-1): a chain of n/2 nodes.
	{"a^n b", worst, each(func(i, n int) int64 {
		if i == n/2 {
			return 1
		}
		return 0
	})},
	{"Thue–Morse", worst, each(func(i, _ int) int64 { return int64(bits.OnesCount(uint(i)) & 1) })},

	// A match of n/2 tokens that breaks with the last one.
	{"English twice", burst, twice(library(comments))},
}

// each makes a stream of a function of the place and the length.
func each(f func(i, n int) int64) func(int) ([]int64, error) {
	return func(n int) ([]int64, error) {
		x := make([]int64, n)
		for i := range x {
			x[i] = f(i, n)
		}
		return x, nil
	}
}

func random(seed, k uint64) func(int) ([]int64, error) {
	return func(n int) ([]int64, error) {
		r := rand.New(rand.NewPCG(seed, k))
		return each(func(int, int) int64 { return int64(r.Uint64N(k)) })(n)
	}
}

func fibonacci(n int) ([]int64, error) {
	a, b := []int64{0}, []int64{0, 1}
	for len(b) < n {
		a, b = b, append(b[:len(b):len(b)], a...)
	}
	return b[:n], nil
}

func combs(n int) ([]int64, error) {
	r := rand.New(rand.NewPCG(5, 9))
	x := make([]int64, n)
	for i := r.IntN(4000); i < n; i += 1 + r.IntN(4000) {
		x[i] = 1 + r.Int64N(255)
	}
	return x, nil
}

func stairs(n int) ([]int64, error) {
	x := make([]int64, n)
	for i, step := 1, 2; i < n; i, step = i+step+1, step+1 {
		x[i] = 1
	}
	return x, nil
}

// twice makes a stream of half of another, the same again but for its end, and a 0.
func twice(tokens func(n int) ([]int64, error)) func(int) ([]int64, error) {
	return func(n int) ([]int64, error) {
		half, err := tokens((n + 1) / 2)
		if err != nil {
			return nil, err
		}
		x := make([]int64, n)
		copy(x[copy(x, half):n-1], half)
		return x, nil
	}
}

// errShort says that the standard library has not enough text.
var errShort = errors.New("the standard library of Go has too little text")

// library makes a stream of what a function takes from the sources of Go's standard
// library, tests left out, in the order of their paths.
func library(take func(src []byte) []byte) func(int) ([]int64, error) {
	return func(n int) ([]int64, error) {
		root := os.Getenv("GOROOT")
		var text []byte
		err := filepath.WalkDir(filepath.Join(root, "src"), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), strings.HasPrefix(d.Name(), "z"):
				return nil
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if bytes.Contains(src[:min(len(src), 500)], []byte("DO NOT EDIT")) {
				return nil // tables are no text
			}
			if text = append(text, take(src)...); len(text) >= n {
				return fs.SkipAll
			}
			return nil
		})
		if err == nil && len(text) < n {
			err = fmt.Errorf("%w: %d bytes of %d below %q", errShort, len(text), n, root)
		}
		if err != nil {
			return nil, err
		}
		return each(func(i, _ int) int64 { return int64(text[i]) })(n)
	}
}

// comments takes the prose of the comments of a Go file, without the copyright and without
// the marks of comments.
func comments(src []byte) []byte {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", -1, len(src)), src, func(token.Position, string) {}, scanner.ScanComments)
	var out []byte
	for {
		_, kind, text := s.Scan()
		switch {
		case kind == token.EOF:
			return out
		case kind != token.COMMENT, strings.Contains(text, "opyright"), strings.Contains(text, "license"),
			strings.Contains(text, "LICENSE"), strings.HasPrefix(text, "//go:"):
			continue
		}
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "//"), "/*"), "*/")
		out = append(append(out, strings.TrimSpace(text)...), '\n')
	}
}

// fileName is the name of the file of an input.
func (in input) fileName(n int) string {
	return strings.NewReplacer(" ", "-", ",", "", "^", "", "–", "-").Replace(in.name) + fmt.Sprintf("-%d.i64", n)
}

// write writes the first n tokens, little endian.
func (in input) write(dir string, n int) error {
	path := filepath.Join(dir, in.fileName(n))
	if info, err := os.Stat(path); err == nil && info.Size() == int64(8*n) {
		return nil // made before
	}
	x, err := in.tokens(n)
	if err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = errors.Join(binary.Write(w, binary.LittleEndian, x), w.Flush(), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// readTokens reads what write wrote.
func readTokens(path string) ([]int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	x := make([]int64, len(b)/8)
	for i := range x {
		x[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x, nil
}
