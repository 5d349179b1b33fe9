# make demo and make test do all the setup they need; the second time they start at once.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
say = @printf '\033[1m== %s\033[0m\n' "$(1)"

.PHONY: demo experiments test lint format fuzz test-paddle test-onnx test-ray build cuda cuda-on-host cuda-ptx stub docs test-gpu-on-host test-gpu-sanitized tsan asan bench wheel release clean check-tools

demo: build $(VENV)/.demo
	$(call say,training on handwritten digits with 20 % wrong labels)
	@$(PY) examples/digits.py --out out/demo

# Measures over several seeds where averaging helps and where it does not: tables and figures in
# examples/averaging/results.
experiments: build $(VENV)/.demo
	$(call say,running the experiments on averaging)
	@$(PY) examples/averaging/run.py

# Hundreds of processes of tests import the same modules: each would compile them again. Threads of NumPy's products wait
# for each other by spinning, and beside other processes mostly wait.
test: export PYTHONDONTWRITEBYTECODE :=
test: export OPENBLAS_NUM_THREADS := 1

# All tests, each file in one process, in the order of the files: pytest-xdist's own order ends with files of few
# tests, which are those that compile and start processes, and then all but one core wait. Two processes for each core, as
# tests of processes and of clusters mostly wait. TESTS in one process, where a debugger can stop.
TWO_A_CORE = import os; print(min(8, 2 * len(os.sched_getaffinity(0))))
test: build $(VENV)/.test
	$(call say,running the tests)
	@$(PY) -m pytest $(if $(TESTS),$(TESTS),--numprocesses $$($(PY) -c '$(TWO_A_CORE)') --dist loadfile --no-loadscope-reorder)

# Checks style and types; `make format` fixes what the tools can fix automatically. mypy reads the types of the optional
# libraries too, so the tests' packages must be installed.
SOURCES = git ls-files --cached --others --exclude-standard '*.c' '*.cc' '*.cu' '*.h' '*.hpp'
lint: $(VENV)/.lint $(VENV)/.test
	$(call say,checking style and types)
	@$(VENV)/bin/ruff check --quiet
	@$(VENV)/bin/ruff format --check
	@$(SOURCES) | xargs $(VENV)/bin/clang-format --dry-run -Werror
	@$(VENV)/bin/mypy

format: $(VENV)/.lint
	@$(VENV)/bin/ruff check --fix --quiet || true
	@$(VENV)/bin/ruff format --quiet
	@$(SOURCES) | xargs $(VENV)/bin/clang-format -i

# Runs mutated programs, files, messages and configurations for MINUTES; prints a command that reproduces each finding.
MINUTES ?= 1
SEED ?= 1
fuzz: build $(VENV)/.test
	@$(PY) tests/fuzz/fuzz.py --minutes $(MINUTES) --seed $(SEED)

# Tests against PaddlePaddle 2.6.2, in the environment that `make bench` also uses (created the first time: a download
# of about 130 MB). Two processes, each with a PaddlePaddle beside it: they take turns, and the census has one long test.
test-paddle: build $(VENV)/.test
	@cd benchmarks && ../$(PY) -c 'from environments import python_of; python_of("paddle")'
	$(call say,running the tests beside PaddlePaddle)
	@$(PY) -m pytest tests/paddle --numprocesses 2 --dist worksteal

# Exported models in ONNX Runtime, and models from PyTorch, in environments of their own (created the first time:
# downloads of about 30 MB and 230 MB).
test-onnx: build $(VENV)/.test
	@cd benchmarks && ../$(PY) -c 'from environments import python_of; python_of("onnxruntime-inference")'
	@cd benchmarks && ../$(PY) -c 'from environments import python_of; python_of("torch")' || echo "going on without PyTorch's models"
	$(call say,running the tests of ONNX models)
	@$(PY) -m pytest tests/onnx_runtime

# Jobs with several trainers on Ray (installed the first time, with schemas of Kubernetes: a download of about 100 MB). Two
# processes, as jobs mostly wait.
test-ray: build $(VENV)/.test $(VENV)/.ray $(VENV)/.recipes
	$(call say,running the tests of jobs on Ray)
	@$(PY) -m pytest tests/cluster --engine ray --numprocesses 2 --dist loadfile

# The documentation as web pages that need no network, in out/site; a warning is an error.
docs: build $(VENV)/.docs
	$(call say,writing out/site)
	@$(VENV)/bin/mkdocs build --quiet --strict

# Compiles changed files and installs them into the environment.
build: $(VENV)/.installed
	@cmake_out=$$(flock build/.lock $(VENV)/bin/cmake --build build 2>&1) || { echo "$$cmake_out"; exit 1; }; \
	case "$$cmake_out" in *"no work to do"*) ;; *) echo "== rebuilt what had changed";; esac
	@$(VENV)/bin/cmake --install build --component python --prefix "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" >/dev/null
	@cmp -s build/pm_run $(VENV)/bin/pm_run || install build/pm_run $(VENV)/bin/pm_run

# GPU kernels, installed beside the other libraries; needs nvcc of CUDA 13. On the host: the same kernels, emulated for
# tests.
cuda: PRESET := cuda
cuda-on-host: PRESET := release
cuda cuda-on-host: build
	$(call say,compiling the kernels for GPUs)
	@flock build/.lock $(VENV)/bin/cmake --preset $(PRESET) $(CUDA_OPTIONS) >/dev/null
	@flock build/.lock $(VENV)/bin/cmake --build build --target paddle_mini_$(subst -,_,$@)
	@$(VENV)/bin/cmake --install build --component paddle_mini_$(subst -,_,$@) --prefix "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" >/dev/null

# Only checks that the GPU code compiles, to PTX for one architecture.
cuda-ptx: build
	@flock build/.lock $(VENV)/bin/cmake --preset cuda >/dev/null
	@flock build/.lock $(VENV)/bin/cmake --build build --target paddle_mini_cuda_ptx

# Writes the type stub of the C++ module, for mypy and editors, from the module itself.
stub: build $(VENV)/.lint
	@$(PY) python/make_stub.py

# Runs tests/gpu on the emulation, without a GPU. One file has most of the tests, so they are distributed one by one.
test-gpu-on-host test-gpu-sanitized: export PM_THOROUGH := 1
test-gpu-on-host: cuda-on-host $(VENV)/.test
	$(call say,running the tests of GPUs on the emulation)
	@PM_CUDA_LIBRARY="$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/paddle_mini/libpaddle_mini_cuda_on_host.so" $(PY) -m pytest tests/gpu --numprocesses auto --maxprocesses 8 --dist worksteal

# Kernels on a GPU under compute-sanitizer: accesses outside of memory, and races in the memory that threads of a block share.
test-gpu-sanitized: cuda $(VENV)/.test
	$(call say,running the tests of operators on a GPU under compute-sanitizer)
	@$(PY) tests/gpu/sanitized.py memcheck
	@$(PY) tests/gpu/sanitized.py racecheck

# Races between threads, under ThreadSanitizer: every kernel with split loops, fused operators, the pool, executors in
# several threads, devices, replicas, and every function of the C interface. CONTRIBUTING.md says how long it takes.
# Excluded by their names: tests of signals, and of processes that fork or have limits, which ThreadSanitizer does not
# support.
TSAN_TESTS ?= tests/executor/test_same_bits.py tests/golden/test_golden.py tests/executor/test_fuse.py \
	tests/executor/test_threads.py tests/executor/test_thread_pool.py tests/averaging/test_threads.py \
	tests/c_interface/test_predictor.py tests/devices/test_offload.py tests/devices/test_failures.py tests/devices/test_parallel.py tests/devices/test_parallel_failures.py \
	tests/own_operators/test_adding.py
tsan: build $(VENV)/.test
	$(call say,building and testing with ThreadSanitizer)
	$(call sanitized,tsan)
	@$(PY) tests/staged.py --preload libtsan.so build/tsan $(TSAN_TESTS) -k "not seed and not process and not interrupt and not forked and not system"
	@TSAN_BUILD=build/tsan $(PY) -m pytest tests/c_interface/test_threads.py -k sanitizer

# Every kernel under AddressSanitizer and UndefinedBehaviorSanitizer; CONTRIBUTING.md says how long it takes.
# Excluded: tests that install the C library and use their own sanitizers, and tests of memory limits and interrupts.
ASAN_TESTS ?= tests/ops tests/executor tests/io tests/golden tests/averaging tests/optimizer_library tests/program
asan: build $(VENV)/.test
	$(call say,building and testing with AddressSanitizer and UndefinedBehaviorSanitizer)
	$(call sanitized,asan,--target paddle_mini_optimizer)
	@$(PY) tests/staged.py --preload libasan.so build/asan $(ASAN_TESTS) \
		--ignore tests/optimizer_library/test_c.py --ignore tests/optimizer_library/test_examples.py -k "not memory_does_not_grow and not limits_of_the_process and not ctrl_c_inside"

# Builds a preset in its own folder: kernels for this machine's CPU level, the Python module, and the arguments in MORE.
define sanitized
	@$(VENV)/bin/cmake --preset $(1) >/dev/null
	@$(VENV)/bin/cmake --build build/$(1) --target paddle_mini_kernels_$$($(PY) cpp/core/cpu_level.py) --target _core $(2)
endef

# Installs packages. uv takes a tenth of pip's time; pip installs where uv does not reach the package index. Modules are compiled
# where they are used the first time: compiling all takes half of the time of an installation.
UV := uv==0.13.9
install = @$(VENV)/bin/uv pip install --quiet --python $(PY) $(1) 2>$(VENV)/uv.log || \
	$(PY) -m pip install --quiet --disable-pip-version-check --no-compile $(1)
# The packages of a list in pyproject.toml.
packages = $$($(PYTHON) -c 'import re; t = open("pyproject.toml").read(); print(" ".join(re.findall(r"\"(.*?)\"", re.search(r"^$(1) = \[(.*)\]", t, re.M).group(1))))')

# A line a minute, until it is killed: how much is compiled.
COMPILED = trap 'kill $$pause; exit' TERM; while sleep 60 & pause=$$!; wait $$pause; do \
  [ ! -e build/.ninja_log ] || echo "== $$(cut -f4 build/.ninja_log | grep '^[^/].*\.o$$' | sort -u | wc -l) of" \
    "$$(grep '^build .*\.o:' build/build.ninja | grep -vc '^build cuda/') files are compiled"; done

$(VENV)/.tools: pyproject.toml | check-tools
	$(call say,making the environment $(VENV) (build tools from the package index))
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-compile $(UV) || echo "== pip installs, as there is no uv"
	$(call install,$(call packages,requires) $(call packages,dependencies))
	@touch $@

$(VENV)/.installed: $(VENV)/.tools
	$(call say,compiling and installing paddle_mini (some minutes the first time))
	@($(COMPILED)) & told=$$!; $(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable .; \
	status=$$?; kill $$told; exit $$status
	@touch $@

# Wheels are compiled in folders of their own, so a release needs no other build before.
$(VENV)/.demo $(VENV)/.test $(VENV)/.ray $(VENV)/.recipes $(VENV)/.lint $(VENV)/.docs: | $(VENV)/.installed
$(VENV)/.demo $(VENV)/.test $(VENV)/.ray $(VENV)/.recipes $(VENV)/.lint $(VENV)/.docs $(VENV)/.release: $(VENV)/.%: pyproject.toml | $(VENV)/.tools
	$(call say,installing what the $* needs)
	$(call install,$(call packages,$*))
	@touch $@

# Prints one line per missing tool, with the Debian package that contains it.
check-tools:
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: apt-get install python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "python3 is older than 3.10: apt-get install python3 of a newer Debian"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "python3's venv is missing: apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "Python.h is missing: apt-get install python3-dev"; exit 1; }
	@command -v $${CXX:-g++} >/dev/null || { echo "a C++17 compiler is missing: apt-get install g++"; exit 1; }
	@echo 'int main() { if constexpr (true) return 0; }' | $${CXX:-g++} -std=c++17 -fsyntax-only -x c++ - 2>/dev/null || { echo "$${CXX:-g++} does not compile C++17: apt-get install g++"; exit 1; }

bench: build
	$(call say,measuring beside the peers (their environments are made the first time))
	@$(PY) benchmarks/run.py

# Everything that a release consists of, checked and tried, in dist; RELEASE has options (docs/versions.md).
release: $(VENV)/.release
	@PYTHONPATH=python $(PY) -m release $(RELEASE)

# Kernels for every CPU level; takes some minutes.
wheel: $(VENV)/.tools
	@$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf build $(VENV) dist out
