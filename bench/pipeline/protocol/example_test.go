package protocol_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// A side that counts to N.
func Example() {
	in := strings.NewReader("count 1 10\ncount 2 100\n")
	hello := protocol.Hello{System: "counter", Version: "1.0"}
	err := protocol.Serve(in, os.Stdout, hello, func(c protocol.Command) (protocol.Run, error) {
		r := protocol.Run{Seconds: 0.5}
		for r.Samples < c.N {
			r.Samples++
			r.Fold += uint64(r.Samples)
		}
		return r, nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"system":"counter","version":"1.0"}
	// {"case":"count","workers":1,"samples":10,"seconds":0.5,"fold":55}
	// {"case":"count","workers":2,"samples":100,"seconds":0.5,"fold":5050}
}
