# Every target does its own set-up; Go fetches what it needs. `make help` lists them.

GO      ?= go
BIN     := bin
OUT     := out
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# No cgo but under the race detector, so that tests, checks and commands share what is compiled.
export CGO_ENABLED = 0

# How long each fuzz target runs: a count of inputs ("2000x") or a time ("1m").
FUZZTIME ?= 10000x
# Packages whose code runs on several goroutines, besides the engine.
RACE     := ./internal/fsys/ ./pipeline/resume/ ./stringtensor/ ./pipeline/sample/ ./pipeline/source/ ./cmd/... ./examples/... ./bench/pipeline/...
# Those in which little does, and the tests that are about it.
RACEPART := ./pipeline/text/ ./pipeline/source/parquet/ ./rosa/...
RACETEST := Concurrent|Workers|Fused|Packed|Column|Golden|Batch|Threads|Each|Pool|Panics|Garbage|Late|Uniform
# Packages whose results must not depend on the instructions of the processor.
LEVELS   := ./cpu/ ./stringtensor/ ./pipeline/text/ ./internal/jsonstring/
# Other machines, and the packages that are built for them, no cgo: those that depend on the
# machine. The rest takes minutes each and has no code of its own there.
CROSS    := linux/386 linux/arm64 darwin/arm64 windows/amd64
PORTABLE := ./cpu/ ./rosa/... ./stringtensor/ ./internal/... ./pipeline/ ./pipeline/sample/ ./pipeline/resume/ ./pipeline/source/ ./pipeline/text/ ./cmd/rosaline/internal/output/ ./gpu/... ./kernels/...
# The main job, on the examples.
EXAMPLES := examples/corpus

.DEFAULT_GOAL := help
.PHONY: run test levels race lint generated cross interop crash bench fuzz build clean help

run: build ## run the main job on the examples: text in, clean text out
	@mkdir -p $(OUT)
	$(BIN)/rosaline run $(EXAMPLES) -o $(OUT)/clean.jsonl --rejects $(OUT)/rejects.jsonl --report $(OUT)/report.json
	@echo
	@echo "kept records in $(OUT)/clean.jsonl, dropped ones in $(OUT)/rejects.jsonl, the numbers in $(OUT)/report.json"

test: ## run the tests
	$(GO) test ./...

levels: ## run the tests of vector code with less of the processor, and without assembly
	ROSALINE_CPU=generic $(GO) test -count=1 -short $(LEVELS)
	ROSALINE_CPU=avx2 $(GO) test -count=1 -short $(LEVELS)
	$(GO) test -tags noasm ./cpu/

race: ## run the tests of concurrent packages under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short $(RACE)
	CGO_ENABLED=1 $(GO) test -race -short -run '$(RACETEST)' $(RACEPART)
	CGO_ENABLED=1 $(GO) test -race -short -cpu=1,2,4 ./pipeline/

lint: generated ## gofmt, go vet, staticcheck, generated files up to date
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted by gofmt:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	GOOS=linux GOARCH=386 $(GO) vet $(PORTABLE)
	$(GO) mod tidy -diff
	$(GO) tool -modfile=tools.mod staticcheck ./...

generated: ## check that generated files are what their generators write
	.ci/generated

cross: ## build what depends on the machine for other machines, without cgo
	@set -e; for t in $(CROSS); do \
		echo "GOOS=$${t%/*} GOARCH=$${t#*/} go build $(PORTABLE)"; \
		GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build $(PORTABLE); \
	done

interop: ## write and read tables with pyarrow, polars and datasets (needs Python; installs them in .cache)
	GO=$(GO) .ci/interop

crash: ## kill a run 200 times at random moments, go on, and compare what it leaves
	ROSALINE_KILLS=200 $(GO) test -count=1 -run TestKilledRuns -v ./cmd/rosaline

bench: ## compare with other systems in one run (installs them in .venv and .cache)
	bench/text/run
	bench/pipeline/run
	bench/rosa/run
	bench/resume/run

fuzz: ## run each fuzz target for FUZZTIME
	GO=$(GO) FUZZTIME=$(FUZZTIME) FUZZSKIP='$(FUZZSKIP)' .ci/fuzz

build: ## build the commands into bin/
	@mkdir -p $(BIN)
	$(GO) build -ldflags "$(LDFLAGS)" -o $(BIN)/ ./cmd/...

clean: ## remove what the other targets made
	rm -rf $(BIN) $(OUT) .venv .cache
	find . -name '*.test' -o -name '*.prof' | xargs rm -f

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 24

include kernels/rules.mk
