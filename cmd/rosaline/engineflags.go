package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// engineFlags say how the engine runs.
type engineFlags struct {
	batch, workers, prefetch countValue
	metrics                  addressValue

	// The rest are flags of rosaline run alone.
	shuffle, epochs countValue
	seed            seedValue
	unordered       bool
	shard           shardValue
	shardMode       choiceValue
}

// add defines the flags of every command that reads records.
func (f *engineFlags) add(flags *pflag.FlagSet) {
	f.batch = countValue{n: 64, low: 1, high: 1 << 20}
	flags.Var(&f.batch, "batch", "most records that are worked on together")
	f.workers = countValue{auto: true, low: 1, high: 4096}
	flags.Var(&f.workers, "workers", "workers that run at once; auto is one a CPU")
	f.prefetch = countValue{auto: true, low: 1, high: 1 << 16}
	flags.Var(&f.prefetch, "prefetch", "most batches that wait between the stages; auto is twice the workers")
	flags.Var(&f.metrics, "metrics", "serve metrics for Prometheus at ADDR while the command runs, at /metrics")
	f.epochs = countValue{n: 1, high: 1<<31 - 1}
	f.shard = shardValue{world: 1}
	f.shardMode = choice("uneven", "pad", "drop", "uneven")
}

// addOrder defines the flags that change which records come, and in which order.
func (f *engineFlags) addOrder(flags *pflag.FlagSet) {
	f.shuffle = countValue{high: 1 << 30}
	flags.Var(&f.shuffle, "shuffle", "shuffle within a buffer of that many records; 0 keeps the order of the inputs")
	flags.Var(&f.seed, "seed", "seed of the shuffle")
	flags.Var(&f.epochs, "epochs", "how often the inputs are gone through; 0 is endless")
	flags.BoolVar(&f.unordered, "unordered", false, "write batches as they are done")
	flags.Var(&f.shard, "shard", "work on part R of W of the lines only, R from 0")
	flags.Var(&f.shardMode, "shard-mode", "when parts differ in length: pad repeats a line, drop leaves lines out, uneven does neither")
}

// validate finds contradictions with the inputs and between the flags.
func (f *engineFlags) validate(files []source.Input) error {
	pad := f.shardMode.value == "pad"
	if f.shardMode.value != "uneven" && !f.shard.on {
		return usagef("--shard-mode %s needs --shard", f.shardMode.value)
	}
	if f.epochs.n == 1 && !pad {
		return nil
	}
	for _, file := range files {
		if !readOnce(file.Path) {
			continue
		}
		name := file.Path + " "
		if file.Path == source.Stdin {
			name = "standard input "
		}
		if pad {
			return usagef("--shard-mode pad: %scan be read once, and padding reads a line again; use drop or uneven", name)
		}
		return usagef("--epochs %s: %scan be read once; write it to a file first", &f.epochs, name)
	}
	return nil
}

// readOnce reports whether an input is gone when it has been read: a pipe, a
// terminal.
func readOnce(path string) bool {
	if path == source.Stdin {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// warnUnused tells of flags that have no effect.
func (f *engineFlags) warnUnused(log *slog.Logger, flags *pflag.FlagSet) {
	if flags.Changed("seed") && f.shuffle.n == 0 {
		log.Warn("flag has no effect: nothing is shuffled without --shuffle", "flag", "--seed")
	}
}

// size returns the number of workers, and of batches between reading and writing,
// that the flags ask for.
func (f *engineFlags) size() (workers, inFlight int) {
	workers, prefetch := f.workers.n, f.prefetch.n
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if prefetch == 0 {
		prefetch = 2 * workers
	}
	return workers, workers + prefetch
}

// configure sets the options of a pipeline. Its elements are batches, so they
// travel one by one.
func configure[T any](p *pipeline.Pipeline[T], f *engineFlags) *pipeline.Pipeline[T] {
	workers, inFlight := f.size()
	p = p.ChunkSize(1).Workers(workers).Prefetch(inFlight).Seed(uint64(f.seed)).Epochs(int64(f.epochs.n))
	if f.unordered {
		p = p.Unordered()
	}
	return p
}

// mode is that of the flag --shard-mode.
func (f *engineFlags) mode() pipeline.ShardMode {
	switch f.shardMode.value {
	case "pad":
		return pipeline.Pad
	case "drop":
		return pipeline.Drop
	}
	return pipeline.Uneven
}

// rank and world are those of --shard; 0 and 0 without it.
func (f *engineFlags) rank() int { return f.shard.rank }
func (f *engineFlags) world() int {
	if !f.shard.on {
		return 0
	}
	return f.shard.world
}

// addressValue is the flag --metrics: HOST:PORT, or "" for none.
type addressValue string

func (v *addressValue) Type() string   { return "ADDR" }
func (v *addressValue) String() string { return string(*v) }
func (v *addressValue) Set(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil && s != "" {
		return errors.New("must be HOST:PORT, such as localhost:9090, or :9090 for all interfaces")
	}
	*v = addressValue(s)
	return nil
}

// seedValue is the flag --seed.
type seedValue uint64

func (v *seedValue) Type() string   { return "S" }
func (v *seedValue) String() string { return strconv.FormatUint(uint64(*v), 10) }
func (v *seedValue) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("must be a whole number from 0 to 18446744073709551615")
	}
	*v = seedValue(n)
	return nil
}

// shardValue is the flag --shard: R/W with 0 ≤ R < W, or off.
type shardValue struct {
	rank, world int
	on          bool
}

// maxWorld is the most ranks that share the inputs.
const maxWorld = 1 << 20

func (v *shardValue) Type() string { return "R/W" }
func (v *shardValue) String() string {
	if !v.on {
		return "off"
	}
	return fmt.Sprintf("%d/%d", v.rank, v.world)
}
func (v *shardValue) Set(s string) error {
	if s == "off" {
		*v = shardValue{world: 1}
		return nil
	}
	r, w, _ := strings.Cut(s, "/")
	rank, err := strconv.ParseUint(r, 10, 32)
	world, failed := strconv.ParseUint(w, 10, 32)
	if err != nil || failed != nil || rank >= world || world > maxWorld {
		return fmt.Errorf("must be R/W with 0 ≤ R < W, W at most %d, or off", maxWorld)
	}
	*v = shardValue{rank: int(rank), world: int(world), on: true}
	return nil
}
