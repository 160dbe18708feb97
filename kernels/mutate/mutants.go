package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// mutant is a source with one change in one line.
type mutant struct {
	function string // in which the line is
	line     string // as it was, without space around it
	change   string // as it is, likewise
	number   int    // of the line, from 1
	source   string // the whole
}

func (m mutant) String() string {
	return fmt.Sprintf("%s, line %d: %s  ▸  %s", m.function, m.number, m.line, m.change)
}

// key names a mutant as long as its function and its line stay as they are. Where a function
// has a line twice, both have the same keys.
func (m mutant) key() string { return m.function + "\t" + m.line + "\t" + m.change }

var (
	header   = regexp.MustCompile(`^(?:KERNEL\((\w+)|static __device__ .*?(\w+)\()`)
	operator = regexp.MustCompile(` (<|<=|>|>=|==|!=|&&|\+|-) `)
	number   = regexp.MustCompile(`\b\d+`)
	// neighbour is what an operator is taken for by mistake.
	neighbour = map[string]string{
		"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "+": "-", "-": "+",
	}
)

// mutants returns the source with each of these changes: a barrier is gone or one thread passes
// it by, a condition always holds, an operator is its neighbour, an index or a number is one
// more.
func mutants(source string) []mutant {
	lines := strings.SplitAfter(source, "\n")
	var list []mutant
	function, heading := "", false
	for i, line := range lines {
		code := line
		if at := strings.Index(code, "//"); at >= 0 {
			code = code[:at]
		}
		code = strings.TrimRight(code, " \n")
		if m := header.FindStringSubmatch(code); m != nil {
			function, heading = m[1]+m[2], true
		}
		if heading {
			body := strings.Index(code, "{")
			heading = body < 0
			if heading || body == len(code)-1 {
				continue
			}
		}
		if function == "" || code == "" || code[0] == '#' || strings.Contains(code, "SHARED(") {
			continue
		}
		for _, changed := range changes(code) {
			list = append(list, mutant{
				function, strings.TrimSpace(code), strings.TrimSpace(changed), i + 1,
				strings.Join(lines[:i], "") + changed + "\n" + strings.Join(lines[i+1:], ""),
			})
		}
		if code == "}" {
			function = ""
		}
	}
	return list
}

// changes returns a line of code with each change that can be made to it.
func changes(code string) []string {
	var list []string
	replace := func(from, to int, by string) { list = append(list, code[:from]+by+code[to:]) }
	const barrier = "__syncthreads();"
	if at := strings.Index(code, barrier); at >= 0 {
		replace(at, at+len(barrier), "")
		replace(at, at, "if (threadIdx.x) ")
	}
	if at := strings.Index(code, "if ("); at >= 0 {
		if end := closing(code, at+3); end > 0 {
			replace(at+4, end, "true")
		}
	}
	for _, m := range operator.FindAllStringSubmatchIndex(code, -1) {
		replace(m[2], m[3], neighbour[code[m[2]:m[3]]])
	}
	for at := range code {
		if code[at] == '[' {
			if end := closing(code, at); end > 0 {
				replace(end, end, " + 1")
			}
		}
	}
	for _, m := range number.FindAllStringIndex(code, -1) {
		n, err := strconv.Atoi(code[m[0]:m[1]])
		if err == nil {
			replace(m[0], m[1], strconv.Itoa(n+1))
		}
	}
	return list
}

// closing returns the place of the bracket that closes the one at from, -1 when the line has none.
func closing(code string, from int) int {
	depth := 0
	for i := from; i < len(code); i++ {
		switch code[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
