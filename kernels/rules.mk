# The device: nvcc, the lazy libcuda, the emulator, and tests with them. Included by Makefile.

# A toolkit if CUDA_HOME names one; otherwise the wheels, in a place of their own.
CUDA_VENV := $(CURDIR)/.cache/cuda
ifeq ($(CUDA_HOME),)
CUDA_READY := $(CUDA_VENV)/ready
CUDA_INC    = $(wildcard $(CUDA_VENV)/lib/python3*/site-packages/nvidia/cu13)/include
NVCC        = $(wildcard $(CUDA_VENV)/lib/python3*/site-packages/nvidia/cu13)/bin/nvcc
else
CUDA_READY :=
CUDA_INC   := $(CUDA_HOME)/include
NVCC       := $(CUDA_HOME)/bin/nvcc
endif

SHIM     := internal/cudashim
SHIMLIB  := $(SHIM)/build/libcuda.a
FATBINS  := kernels/build/where.fatbin
EMULATOR := kernels/build/libcuda_emu.so
# sm_80 is Ampere, sm_90 Hopper, sm_100 Blackwell; the driver compiles the PTX for the rest.
GENCODE  := $(foreach a,80 90 100,-gencode arch=compute_$(a),code=sm_$(a)) -gencode arch=compute_80,code=compute_80
CUDACXX   = $(CXX) -std=c++17 -O1 -g -Wall -Wextra -fPIC -fvisibility=hidden
# Packages with code of their own under tag cuda.
DEVICE   := ./internal/cudashim/... ./kernels/... ./gpu/...

# The environment of a build with tag cuda. Go does not look into the archive: its checksum as
# a macro that nobody reads has programs linked anew when it changes.
CUDAENV = CGO_ENABLED=1 \
	CGO_CFLAGS="-O2 -I$(CURDIR)/$(SHIM)/compat -I$(CUDA_INC) -DSHIM_SUM=$$(cksum <$(SHIMLIB) | cut -d' ' -f1)" \
	CGO_LDFLAGS="-O2 -L$(CURDIR)/$(SHIM)/build"

.PHONY: kernels test-cpu test-nodevice test-emulated test-mutations

kernels: $(FATBINS) $(SHIMLIB) $(EMULATOR) ## build the kernels, the lazy libcuda and the emulator

$(CUDA_VENV)/ready: kernels/requirements.txt
	rm -rf $(CUDA_VENV)
	python3 -m venv $(CUDA_VENV)
	$(CUDA_VENV)/bin/pip install --quiet --disable-pip-version-check --requirement kernels/requirements.txt
	touch $@

# What the compiler says of resources goes to the .log, which a test compares.
kernels/build/%.fatbin: kernels/%.cu kernels/kernel.cuh $(CUDA_READY) kernels/rules.mk
	@mkdir -p $(@D)
	{ $(NVCC) --version && $(NVCC) -ccbin $(CXX) -std=c++17 -O3 -Xptxas -v -fatbin $(GENCODE) -o $@ $<; } >$(@:.fatbin=.log) 2>&1 || \
		{ cat $(@:.fatbin=.log); rm -f $@; exit 1; }

$(SHIM)/build/trampolines.c: $(SHIM)/gen/main.go $(SHIM)/compat/cuda.h $(CUDA_READY)
	@mkdir -p $(@D)
	echo '#include <cuda.h>' | $(CC) -E -P -x c -I$(SHIM)/compat -I$(CUDA_INC) - >$(@D)/cuda.i
	$(GO) run ./$(SHIM)/gen <$(@D)/cuda.i >$@ || { rm -f $@; exit 1; }

$(SHIM)/build/%.o: $(SHIM)/build/%.c $(SHIM)/shim/shim.h
	$(CC) -O2 -fPIC -Wall -Wextra -Wno-deprecated-declarations -I$(SHIM)/shim -I$(SHIM)/compat -I$(CUDA_INC) -c -o $@ $<

$(SHIM)/build/load.o: $(SHIM)/shim/load.c $(SHIM)/shim/shim.h $(SHIM)/shim/status.h $(CUDA_READY)
	@mkdir -p $(@D)
	$(CC) -O2 -fPIC -Wall -Wextra -I$(SHIM)/shim -I$(SHIM)/compat -I$(CUDA_INC) -c -o $@ $<

$(SHIMLIB): $(SHIM)/build/trampolines.o $(SHIM)/build/load.o
	rm -f $@
	ar rcs $@ $^

kernels/build/emu_%.o: kernels/emu/%.cpp kernels/emu/emu.h kernels/emu/block.h $(CUDA_READY)
	@mkdir -p $(@D)
	$(CUDACXX) -I$(CUDA_INC) -c -o $@ $<

kernels/build/emu_%.o: kernels/%.cu kernels/kernel.cuh kernels/emu/emu.h
	@mkdir -p $(@D)
	$(CUDACXX) -x c++ -include kernels/emu/emu.h -c -o $@ $<

$(EMULATOR): kernels/build/emu_block.o kernels/build/emu_driver.o kernels/build/emu_where.o
	$(CXX) -shared -o $@ $^

# Tests name the driver they mean, so that a device in the machine takes nothing over.
test-cpu: ## run the tests of the device's packages without cgo and without CUDA
	CGO_ENABLED=0 $(GO) test $(DEVICE)

test-nodevice: $(FATBINS) $(SHIMLIB) ## run them built with CUDA where there is no device: what needs one skips
	$(CUDAENV) $(GO) vet -tags cuda $(DEVICE)
	$(CUDAENV) ROSALINE_LIBCUDA=none $(GO) test -count=1 -tags cuda $(DEVICE)

test-emulated: $(FATBINS) $(SHIMLIB) $(EMULATOR) ## run them on the emulated driver, in all orders, once under the race detector
	@set -e; for order in fwd rev rand; do echo "order $$order"; \
		$(CUDAENV) ROSALINE_LIBCUDA=$(CURDIR)/$(EMULATOR) ROSALINE_EMU_ORDER=$$order ROSALINE_NEED_DEVICE=1 $(GO) test -count=1 -tags cuda ./gpu/... -rapid.checks=1000; \
	done
	$(CUDAENV) ROSALINE_LIBCUDA=$(CURDIR)/$(EMULATOR) ROSALINE_EMU_ORDER=rand ROSALINE_NEED_DEVICE=1 $(GO) test -count=1 -race -short -tags cuda ./gpu/...

test-mutations: $(FATBINS) $(SHIMLIB) $(EMULATOR) ## break the kernels in many ways; tests on the emulator must notice
	$(CUDAENV) $(GO) test -c -tags cuda -o kernels/build/gpu.test ./gpu
	CXX="$(CXX)" $(GO) run ./kernels/mutate -test kernels/build/gpu.test

# The wheels go with .cache.
.PHONY: clean-device
clean: clean-device
clean-device:
	rm -rf kernels/build $(SHIM)/build
