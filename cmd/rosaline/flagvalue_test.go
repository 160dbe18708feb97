package main

import (
	"math"
	"runtime"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestSizeValue(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1000": 1000, "7B": 7, "64KiB": 64 << 10, "64K": 64 << 10, "16MiB": 16 << 20, "2G": 2 << 30, "off": -1,
	} {
		v := sizeValue{high: math.MaxInt64, canBeOff: true}
		require.NoError(t, v.Set(in), in)
		require.Equal(t, want, v.n, in)
		again := v
		require.NoError(t, again.Set(v.String()), "%s reads back", v.String())
		require.Equal(t, v.n, again.n)
	}
	for _, in := range []string{"", "-1", "+1", "1.5", "K", "1TiB", "1 K", "9223372036854775807K", "64kib", "1001", "OFF"} {
		v := sizeValue{n: 5, high: 1000, canBeOff: true}
		require.Error(t, v.Set(in), in)
		require.EqualValues(t, 5, v.n, "%s changed the value", in)
	}
	v := sizeValue{low: 1, high: 10}
	require.Error(t, v.Set("off"))
	require.Error(t, v.Set("0"))
}

func TestCountValue(t *testing.T) {
	v := countValue{auto: true, low: 1, high: 8}
	require.Equal(t, "auto", v.String())
	require.NoError(t, v.Set("8"))
	require.Equal(t, "8", v.String())
	for _, in := range []string{"0", "9", "-1", "x", ""} {
		require.ErrorContains(t, v.Set(in), "or auto")
	}
	require.NoError(t, v.Set("auto"))
	require.Zero(t, v.n)
	v = countValue{n: 1, low: 1, high: 8}
	require.Error(t, v.Set("auto"))
}

func TestBoundValue(t *testing.T) {
	v := boundValue{high: 1}
	require.Equal(t, "preset", v.String())
	require.NoError(t, v.Set("0.25"))
	require.Equal(t, "0.25", v.String())
	for _, in := range []string{"1.01", "-0.1", "NaN", "Inf", "", "x"} {
		require.Error(t, v.Set(in), in)
	}
	whole := boundValue{whole: true}
	require.NoError(t, whole.Set("20"))
	require.Error(t, whole.Set("20.5"))
	require.Error(t, whole.Set("1e300"))
	open := boundValue{}
	require.NoError(t, open.Set("1e3"))
}

func TestShardValue(t *testing.T) {
	for in, want := range map[string]shardValue{
		"0/1": {0, 1, true}, "3/4": {3, 4, true}, "10/11": {10, 11, true}, "off": {0, 1, false},
	} {
		v := shardValue{5, 9, true}
		require.NoError(t, v.Set(in))
		require.Equal(t, want, v)
		require.Equal(t, in, v.String())
	}
	for _, s := range []string{"", "1", "1/", "/1", "1/1", "-1/2", "0/0", "0/2x", "a/b", "0/2/3", "+0/2", "0/1048577", "0/99999999999999999999"} {
		v := shardValue{5, 9, true}
		require.Error(t, v.Set(s), s)
		require.Equal(t, shardValue{5, 9, true}, v, "%s changed the value", s)
	}
}

func TestSeedValue(t *testing.T) {
	for _, s := range []string{"0", "7", "18446744073709551615"} {
		var v seedValue
		require.NoError(t, v.Set(s))
		require.Equal(t, s, v.String())
	}
	for _, s := range []string{"", "-1", "1.5", "x", "18446744073709551616"} {
		v := seedValue(5)
		require.Error(t, v.Set(s), s)
		require.EqualValues(t, 5, v)
	}
}

func TestAddressValue(t *testing.T) {
	for _, s := range []string{"", ":0", ":9090", "localhost:9090", "[::1]:65535"} {
		var v addressValue
		require.NoError(t, v.Set(s))
		require.Equal(t, s, v.String())
	}
	for _, s := range []string{"9090", "localhost", "::1:9090", ":65536", ":-1", "a:b:c", ":no such service", "http://localhost:9090"} {
		v := addressValue(":1")
		require.Error(t, v.Set(s), s)
		require.EqualValues(t, ":1", v)
	}
}

// TestEveryFlagIsDefined lists the words that scripts depend on, with their
// defaults.
func TestEveryFlagIsDefined(t *testing.T) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	(&runFlags{}).add(flags)
	for name, value := range map[string]string{
		"text-key": "text", "id-key": "id", "stages": "clean,quality,dedup,pii", "trim": "true", "normalize-newlines": "true",
		"min-bytes": "off", "max-bytes": "off", "truncate": "false", "quality": "pretraining",
		"min-chars": "preset", "min-words": "preset", "min-entropy": "preset", "max-repetition": "preset", "max-symbol-ratio": "preset",
		"dedup": "exact", "pii": "key,email,card,ip", "output": "-", "out-format": "jsonl", "rejects": "",
		"batch": "64", "shuffle": "0", "seed": "0", "epochs": "1", "workers": "auto", "prefetch": "auto", "unordered": "false",
		"shard": "off", "shard-mode": "uneven", "tokenizer": "none", "state": "", "commit-every": "1",
		"device": "auto", "check": "sampled", "on-error": "fail", "report": "", "format": "auto", "progress": "auto", "max-line": "16MiB",
		"max-window": "128MiB", "metrics": "",
	} {
		f := flags.Lookup(name)
		require.NotNil(t, f, name)
		require.Equal(t, value, f.DefValue, name)
	}
	require.NotNil(t, flags.ShorthandLookup("o"))
}

// TestDefaultsAreAccepted sets each flag to what it is by default.
func TestDefaultsAreAccepted(t *testing.T) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f := &runFlags{}
	f.add(flags)
	flags.VisitAll(func(flag *pflag.Flag) {
		_, pairs := flag.Value.(*pairsValue)     // none of which is no argument
		if flag.DefValue != "preset" && !pairs { // a bound has no word for it
			require.NoError(t, flags.Set(flag.Name, flag.DefValue), flag.Name)
			require.Equal(t, flag.DefValue, flag.Value.String(), flag.Name)
		}
	})
	require.NoError(t, f.validate())
}

func TestEngineSize(t *testing.T) {
	flags := pflag.NewFlagSet("quality", pflag.ContinueOnError)
	f := &inputFlags{}
	f.add(flags)
	workers, inFlight := f.size()
	require.Equal(t, runtime.GOMAXPROCS(0), workers)
	require.Equal(t, 3*workers, inFlight)
	require.NoError(t, flags.Parse([]string{"--workers", "3", "--prefetch", "5"}))
	workers, inFlight = f.size()
	require.Equal(t, []int{3, 8}, []int{workers, inFlight})
}
