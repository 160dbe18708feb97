package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// documents returns lines of JSONL whose texts have about 500 bytes, with paragraphs
// and quoted words, and the id and text of each.
func documents(n int) (lines [][]byte, ids, texts []string) {
	rng := rand.New(rand.NewPCG(7, 7))
	words := make([]string, 4000)
	for i := range words {
		b := make([]byte, 2+rng.IntN(8))
		for k := range b {
			b[k] = 'a' + byte(rng.IntN(26))
		}
		words[i] = string(b)
	}
	for i := range n {
		var text strings.Builder
		for size := 250 + rng.IntN(500); text.Len() < size; {
			word := words[rng.IntN(len(words))]
			switch rng.IntN(40) {
			case 0:
				word = `"` + word + `"`
			case 1, 2, 3:
				word += ".\n"
			case 4:
				if i%10 == 0 {
					word += "é—"
				}
			}
			text.WriteString(word + " ")
		}
		id := fmt.Sprintf("doc-%d", i)
		var line strings.Builder
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(struct {
			ID   string `json:"id"`
			URL  string `json:"url"`
			Text string `json:"text"`
			N    int    `json:"n"`
		}{id, "https://example.org/" + id, text.String(), i})
		lines = append(lines, []byte(strings.TrimSuffix(line.String(), "\n")))
		ids, texts = append(ids, id), append(texts, text.String())
	}
	return lines, ids, texts
}

// field gets the id and the text out of a line.
type field func(line []byte) (id, text []byte, err error)

func rosalineField() field {
	f, err := source.NewFields("text", "id")
	if err != nil {
		panic(err)
	}
	return func(line []byte) (id, text []byte, err error) {
		if err := f.Scan(line); err != nil {
			return nil, nil, err
		}
		id = f.Raw(1)
		text, _ = f.Text(0)
		return id[1 : len(id)-1], text, nil
	}
}

func fastjsonField() field {
	p := new(fastjson.Parser)
	return func(line []byte) (id, text []byte, err error) {
		v, err := p.ParseBytes(line)
		if err != nil {
			return nil, nil, err
		}
		return v.GetStringBytes("id"), v.GetStringBytes("text"), nil
	}
}

func stdlibField() field {
	return func(line []byte) (id, text []byte, err error) {
		var v struct{ ID, Text string }
		err = json.Unmarshal(line, &v)
		return []byte(v.ID), []byte(v.Text), err
	}
}

var fields = []struct {
	name string
	make func() field
}{
	{"rosaline", rosalineField}, {"fastjson", fastjsonField}, {"encoding-json", stdlibField},
}

func TestFieldsAreTheSame(t *testing.T) {
	lines, ids, texts := documents(2000)
	for _, f := range fields {
		get := f.make()
		for i, line := range lines {
			id, text, err := get(line)
			if err != nil || string(id) != ids[i] || string(text) != texts[i] {
				t.Fatalf("%s: %s gives %q, %q, %v", f.name, line, id, text, err)
			}
		}
	}
}

func BenchmarkField(b *testing.B) {
	// As many as a reader hands out at a time, one after the other in memory as there.
	lines, _, _ := documents(200)
	chunk := bytes.Join(lines, []byte("\n"))
	lines = bytes.Split(chunk, []byte("\n"))
	for _, f := range fields {
		b.Run(f.name, func(b *testing.B) {
			get := f.make()
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					if _, _, err := get(line); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
