package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"
)

// noDevice is why no GPU is used.
const noDevice = "this build has no device support"

func (c *command) devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "Say what the machine offers, and why a GPU is or is not used",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("devices takes no arguments, got %q", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return writeDevices(c.out) },
	}
}

// simdFeatures are the vector extensions worth a word, best known first.
var simdFeatures = []cpuid.FeatureID{
	cpuid.SSE2, cpuid.SSE42, cpuid.AVX, cpuid.AVX2, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VBMI2,
	cpuid.BMI2, cpuid.POPCNT, cpuid.ASIMD, cpuid.SVE,
}

func writeDevices(w io.Writer) error {
	name := cpuid.CPU.BrandName
	if name == "" {
		name = runtime.GOARCH + ", model unknown"
	}
	var features []string
	for _, f := range simdFeatures {
		if cpuid.CPU.Has(f) {
			features = append(features, f.String())
		}
	}
	if features == nil {
		features = []string{"none known"}
	}
	_, err := fmt.Fprintf(w, "cpu: %s\n     %d logical CPUs, %d used at once; %s\ngpu: none used: %s\nAll stages run on the CPU only.\n",
		name, runtime.NumCPU(), runtime.GOMAXPROCS(0), strings.Join(features, " "), noDevice)
	return err
}
