package protocol_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// asSide makes this test program a side instead, of the kind it names.
const asSide = "ROSALINE_TEST_SIDE"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asSide); kind != "" {
		os.Exit(beSide(kind))
	}
	goleak.VerifyTestMain(m)
}

func beSide(kind string) int {
	switch kind {
	case "good":
		err := protocol.Serve(os.Stdin, os.Stdout, protocol.Hello{System: "test", Version: os.Args[1]}, double)
		if err != nil {
			return 3
		}
	case "silent":
		time.Sleep(time.Minute)
	case "gone":
		return 4
	case "noise":
		fmt.Println("hello")
	case "wrong":
		answer(`{"case":"other","workers":1,"seconds":1}`)
	case "timeless":
		answer(`{"case":"batch","workers":1,"samples":1}`)
	case "broken":
		answer(`{"case":"batch"`)
	case "stubborn":
		fmt.Println(`{"system":"test"}`)
		time.Sleep(time.Minute)
	}
	return 0
}

// answer says hello, and a line to the first command.
func answer(line string) {
	fmt.Println(`{"system":"test"}`)
	bufio.NewScanner(os.Stdin).Scan()
	fmt.Println(line)
}

// double is a run that anyone can check.
func double(c protocol.Command) (protocol.Run, error) {
	if c.Case == "none" {
		return protocol.Run{}, errors.New("no such case")
	}
	return protocol.Run{Samples: c.N, Seconds: float64(c.Workers) / 4, Fold: 2 * uint64(c.N)}, nil
}
