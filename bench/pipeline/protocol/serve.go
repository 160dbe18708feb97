package protocol

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Run is what one run of a case did.
type Run struct {
	Samples int
	Seconds float64
	Fold    uint64
}

// Serve is the loop of a side: it says hello, and answers the commands of in
// until they end or one fails.
func Serve(in io.Reader, out io.Writer, hello Hello, run func(Command) (Run, error)) error {
	enc := json.NewEncoder(out)
	if err := enc.Encode(hello); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		c, err := ParseCommand(lines.Text())
		if err != nil {
			return err
		}
		r, err := run(c)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		if err := enc.Encode(Answer{c.Case, c.Workers, r.Samples, r.Seconds, r.Fold}); err != nil {
			return err
		}
	}
	return lines.Err()
}
