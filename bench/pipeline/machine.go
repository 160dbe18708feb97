package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// machine is the CPU, cores, memory and kernel of this machine, as far as it tells.
func machine() string {
	cpu := runtime.GOARCH
	if m := find("/proc/cpuinfo", `(?m)^model name\s*: (.*)$`); m != "" {
		cpu = m
	}
	s := fmt.Sprintf("%s, %d cores", cpu, runtime.NumCPU())
	if kib, err := strconv.Atoi(find("/proc/meminfo", `(?m)^MemTotal:\s*(\d+)`)); err == nil {
		s += fmt.Sprintf(", %d GiB of memory", (kib+1<<19)>>20)
	}
	return s + ", " + strings.TrimSpace(runtime.GOOS+" "+find("/proc/sys/kernel/osrelease", `(.+)`))
}

// load is the load average of the last minute, or "unknown".
func load() string {
	if m := find("/proc/loadavg", `^(\S+)`); m != "" {
		return m
	}
	return "unknown"
}

// find is the first group of a pattern in a file, or "".
func find(path, pattern string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(pattern).FindSubmatch(data)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// says is what a command prints, or "unknown".
func says(command ...string) string {
	out, err := exec.Command(command[0], command[1:]...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
