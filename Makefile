# breakwatch: `make sweep` and `make test` do everything; the other targets are for developers.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# What `make sweep` sweeps: HUB=snapshot (bundled, no network) or live; TOP models by rank.
HUB ?= snapshot
TOP ?= 30
# Another index for the torch wheels, such as a CPU-only one, which saves 4 GB.
TORCH_INDEX ?=
# Prefer the distribution's own interpreter: it is built with profile-guided and link-time optimization. Tracing runs in
# the interpreter, so a capture takes a sixth less core time than with the same release built without.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PRESET ?= release
JOBS ?= $(shell nproc)

WORKER := collectors/capture/worker
LOCK := $(WORKER)/requirements.lock
TEST_LOCK := tests/requirements.lock
VENV_KEY = $(shell { cat $(LOCK); echo "$(TORCH_INDEX) $(PYTHON)"; } | sha256sum | cut -c1-12)
TEST_VENV_KEY = $(shell { cat $(LOCK) $(TEST_LOCK); echo "$(PYTHON)"; } | sha256sum | cut -c1-12)
# Grafana's own libraries, for the tests of the dashboards.
GRAFANA_JS := tests/dashboards/grafana_js
GRAFANA_JS_KEY = $(shell sha256sum <$(GRAFANA_JS)/package-lock.json | cut -c1-12)
PROGRAM := build/$(PRESET)/breakwatch
SWEEP_FLAGS ?=
# The number of models in the benchmark, and its other flags: BENCH_FLAGS=--record stores the figures.
BENCH_SET ?= 60
BENCH_FLAGS ?=

BUILD_PACKAGES := g++ cmake ninja-build ccache pkg-config libcurl4-openssl-dev nlohmann-json3-dev libspdlog-dev \
  libcpp-httplib-dev libcli11-dev libyaml-cpp-dev libsoci-dev libsqlite3-dev libpq-dev libboost-dev zlib1g-dev \
  libssl-dev prometheus-cpp-dev libprotozero-dev libpugixml-dev libsimdjson-dev libsnappy-dev libgtest-dev libgmock-dev \
  libbenchmark-dev bubblewrap prometheus-pushgateway python3 python3-venv ca-certificates
TEST_PACKAGES := prometheus prometheus-alertmanager runc postgresql curl procps systemd groovy default-jre-headless \
  libxml2-utils chromium fonts-dejavu-core dpkg-dev lintian mandoc zsh fish
IMAGE_PACKAGES := buildah debootstrap runc
LINT_PACKAGES := clang-format clang-tidy shellcheck prometheus

.PHONY: help
help: ## List all targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# --- set-up -------------------------------------------------------------------------------------------------------

# $(call install,PACKAGES): installs missing packages as root or by sudo; otherwise prints the list and the command.
define install
missing=""; for p in $(1); do dpkg-query -W -f='$${Status}' "$$p" 2>/dev/null | grep -q '^install ok installed' || missing="$$missing $$p"; done; \
if [ -n "$$missing" ]; then \
  if ! command -v apt-get >/dev/null; then echo "breakwatch needs these Debian packages or their like:$$missing" >&2; exit 1; fi; \
  as_root=""; if [ "$$(id -u)" -ne 0 ]; then as_root="sudo -n"; fi; \
  if [ -n "$$as_root" ] && ! sudo -n true 2>/dev/null; then \
    echo "Missing packages. Please run: sudo apt-get install --no-install-recommends$$missing" >&2; exit 1; fi; \
  echo "Installing$$missing"; \
  export DEBIAN_FRONTEND=noninteractive; log=$$(mktemp); \
  { $$as_root apt-get update -qq && $$as_root apt-get install -y -qq --no-install-recommends $$missing; } >"$$log" 2>&1 \
    || { tail -20 "$$log" >&2; exit 1; }; rm -f "$$log"; \
fi
endef

.PHONY: packages
packages:
	@$(call install,$(BUILD_PACKAGES))

.PHONY: venv
venv: packages ## Install the default toolchain into .venv from its lock file
	@if [ "$$(cat .venv/.key 2>/dev/null)" != "$(VENV_KEY)" ]; then \
	  echo "Making .venv (torch and transformers, several minutes and up to 5 GB the first time)"; \
	  rm -rf ".venv-$(VENV_KEY)" && $(PYTHON) -m venv ".venv-$(VENV_KEY)"; \
	  pip() { ".venv-$(VENV_KEY)/bin/python" -m pip --disable-pip-version-check -q "$$@"; }; \
	  if [ -n "$(TORCH_INDEX)" ]; then \
	    pip install --index-url "$(TORCH_INDEX)" --no-deps $$(grep -oE '^(torch|torchvision)==[^ ]+' $(LOCK)); \
	    awk '/^[a-z]/ {keep = !/^(torch|torchvision|triton|nvidia-|cuda-)/} keep' $(LOCK) >".venv-$(VENV_KEY)/lock.txt"; \
	    pip install --no-deps --require-hashes -r ".venv-$(VENV_KEY)/lock.txt"; \
	  else pip install --require-hashes -r $(LOCK); fi; \
	  echo "$$(pwd)/$(WORKER)" >"$$(echo .venv-$(VENV_KEY)/lib/python3*/site-packages)/breakwatch_worker.pth"; \
	  echo "$(VENV_KEY)" >".venv-$(VENV_KEY)/.key"; \
	  if [ -d .venv ] && [ ! -L .venv ]; then rm -rf .venv; fi; ln -sfn ".venv-$(VENV_KEY)" .venv; \
	fi

# Makes another toolchain: exactly the requested versions, the rest as pip resolves it, recorded in a lock file beside
# it.
TORCH ?=
TRANSFORMERS ?=
NAMED_TOOLCHAIN := $(TOOLCHAIN)
TOOLCHAIN ?= torch$(TORCH)-transformers$(TRANSFORMERS)
TOOLCHAIN_PACKAGES ?= torchvision timm scipy pyyaml
TOOLCHAIN_KEY = $(shell echo "$(TORCH) $(TRANSFORMERS) $(TOOLCHAIN_PACKAGES) $(TORCH_INDEX) $(PYTHON)" | sha256sum | cut -c1-12)

.PHONY: toolchain
toolchain: packages ## Install another toolchain into .venv-NAME: TORCH=2.13.0 TRANSFORMERS=5.8.0 [TOOLCHAIN=name]
	@if [ -z "$(TORCH)" ] || [ -z "$(TRANSFORMERS)" ]; then \
	  echo "make toolchain TORCH=2.13.0 TRANSFORMERS=5.8.0 [TOOLCHAIN=name]" >&2; exit 64; fi
	@venv=".venv-$(TOOLCHAIN)"; \
	if [ "$$(cat "$$venv/.key" 2>/dev/null)" != "$(TOOLCHAIN_KEY)" ]; then \
	  echo "Making $$venv (up to 5 GB the first time)"; \
	  rm -rf "$$venv" && $(PYTHON) -m venv "$$venv"; \
	  pip() { "$$venv/bin/python" -m pip --disable-pip-version-check -q "$$@"; }; \
	  if [ -n "$(TORCH_INDEX)" ]; then pip install --index-url "$(TORCH_INDEX)" "torch==$(TORCH)" torchvision; fi; \
	  pip install "torch==$(TORCH)" "transformers==$(TRANSFORMERS)" $(foreach package,$(TOOLCHAIN_PACKAGES),"$(package)"); \
	  pip freeze >"$$venv/lock.txt"; \
	  echo "$$(pwd)/$(WORKER)" >"$$(echo "$$venv"/lib/python3*/site-packages)/breakwatch_worker.pth"; \
	  echo "$(TOOLCHAIN_KEY)" >"$$venv/.key"; \
	fi

.PHONY: build
build: packages ## Build the program, build/release/breakwatch
	@[ -f build/$(PRESET)/build.ninja ] || cmake --preset $(PRESET) -DBREAKWATCH_TESTS=OFF >/dev/null
	@cmake --build build/$(PRESET) -j $(JOBS)

# --- use ----------------------------------------------------------------------------------------------------------

.PHONY: sweep
sweep: venv build ## Sweep the top models: HUB=snapshot|live TOP=30
	@$(PROGRAM) sweep --hub.source $(HUB) --hub.top $(TOP) --local-gateway $(SWEEP_FLAGS)

.PHONY: serve
serve: venv build ## Run the daemon on loopback
	@exec $(PROGRAM) serve --hub.source $(HUB) --hub.top $(TOP) --local-gateway $(SWEEP_FLAGS)

# --- packages ---------------------------------------------------------------------------------------------------

.PHONY: deb
deb: venv build ## Make the Debian package, build/deb/*.deb
	@$(call install,dpkg-dev)
	@cpack --config build/$(PRESET)/CPackConfig.cmake -B build/deb >build/deb.log || { tail -20 build/deb.log >&2; exit 1; }
	@ls build/deb/*.deb

# DEB_TEST_FLAGS=--setup also makes the real toolchain in the clean root (6 GB) and captures with it.
DEB_TEST_FLAGS ?=
.PHONY: deb-test
deb-test: venv build ## Install, use, upgrade and purge the Debian package in a clean root: needs root
	@$(call install,dpkg-dev debootstrap)
	@python3 tests/package/check_deb.py $(DEB_TEST_FLAGS)

# --- tests and figures --------------------------------------------------------------------------------------------

.PHONY: test-packages
test-packages: packages
	@$(call install,$(TEST_PACKAGES))

.PHONY: test-venv
test-venv: venv
	@if [ "$$(cat .venv-test/.key 2>/dev/null)" != "$(TEST_VENV_KEY)" ]; then \
	  rm -rf .venv-test && $(PYTHON) -m venv .venv-test; \
	  .venv-test/bin/python -m pip --disable-pip-version-check -q install --require-hashes -r $(TEST_LOCK); \
	  echo "$$(cd .venv/lib/python3*/site-packages && pwd -P)" >"$$(echo .venv-test/lib/python3*/site-packages)/toolchain.pth"; \
	  echo "$$(pwd)/$(WORKER)" >>"$$(echo .venv-test/lib/python3*/site-packages)/toolchain.pth"; \
	  echo "$(TEST_VENV_KEY)" >.venv-test/.key; \
	fi
	@if [ "$$(cat $(GRAFANA_JS)/node_modules/.key 2>/dev/null)" != "$(GRAFANA_JS_KEY)" ]; then \
	  tools="$$(pwd)/.venv-test/bin"; cd $(GRAFANA_JS) && PATH="$$tools:$$PATH" npm ci --silent; \
	  echo "$(GRAFANA_JS_KEY)" >node_modules/.key; \
	fi

# MLflow: 70 packages, half a minute to install.
MLFLOW := 3.17.2
# The further toolchains of the tests. Without one, its tests are skipped with that reason.
SECOND_TOOLCHAIN := TORCH=2.13.0 TRANSFORMERS=5.8.0
OLDEST_TOOLCHAIN := TORCH=2.6.0 TRANSFORMERS=4.57.6
# The older releases of torch are older than numpy 2.3 and were never tested with it.
OLDER_PACKAGES := torchvision timm scipy pyyaml numpy<2.3

.PHONY: test-toolchain
test-toolchain: test-venv
	@$(MAKE) toolchain $(SECOND_TOOLCHAIN) || echo "No second toolchain: its tests are skipped"

.PHONY: test-toolchains
test-toolchains: test-toolchain ## Test the worker on the default, the second and the oldest toolchain
	@$(MAKE) toolchain $(OLDEST_TOOLCHAIN) TOOLCHAIN_PACKAGES='$(OLDER_PACKAGES)'
	@.venv-test/bin/python -m pytest tests/worker/zoo_test.py tests/worker/toolchains_test.py -q

.PHONY: test-mlflow
test-mlflow:
	@if [ "$$(cat .venv-mlflow/.key 2>/dev/null)" != "$(MLFLOW)" ]; then \
	  rm -rf .venv-mlflow && $(PYTHON) -m venv .venv-mlflow && \
	  .venv-mlflow/bin/python -m pip --disable-pip-version-check -q install mlflow==$(MLFLOW) && \
	  echo "$(MLFLOW)" >.venv-mlflow/.key || { rm -rf .venv-mlflow; echo "No MLflow $(MLFLOW): its tests are skipped"; }; \
	fi

.PHONY: test
test: test-packages test-toolchain test-mlflow ## Run all tests: ctest, pytest, end-to-end tests with real servers
	@cmake --preset release -DBREAKWATCH_TESTS=ON >/dev/null
	@cmake --build build/release -j $(JOBS)
	@ctest --preset release -j $(JOBS)
	@.venv-test/bin/python -m pytest tests -q -rfEs -n 2 --dist loadfile

# The OCI registry is compiled from 100 modules, and needs a newer Go than Debian 12 has.
.PHONY: test-registries
test-registries: test-venv test-mlflow build ## Test artifacts with a real OCI registry and a real MLflow server: needs go
	@cd tests/registry/distribution && go mod verify && go build -o $(CURDIR)/.cache/registry .
	@.venv-test/bin/python -m pytest tests/e2e/test_registries.py -q

# The collector is compiled from 200 modules of the Go proxy, by the collector builder.
COLLECTOR_BUILDER := go.opentelemetry.io/collector/cmd/builder@v0.155.0
.PHONY: test-collector
test-collector: test-venv build ## Test OTLP with a real OpenTelemetry collector: needs go
	@if [ ! -x .cache/otel-collector/collector ] || [ tests/otlp/collector/manifest.yaml -nt .cache/otel-collector/collector ]; then \
	  cd tests/otlp/collector && GOFLAGS=-mod=mod go run $(COLLECTOR_BUILDER) --config manifest.yaml; fi
	@.venv-test/bin/python -m pytest tests/e2e/test_collector.py -q -rs

# VictoriaMetrics is compiled from its module of the Go proxy.
VICTORIAMETRICS := github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics@v1.151.0
.PHONY: test-victoriametrics
test-victoriametrics: test-venv build ## Test remote write with a real VictoriaMetrics: needs go
	@[ -x .cache/victoriametrics/victoria-metrics ] || GOBIN=$(CURDIR)/.cache/victoriametrics go install $(VICTORIAMETRICS)
	@.venv-test/bin/python -m pytest tests/e2e/test_remote_write.py -q -rs

.PHONY: bench-delivery
bench-delivery: packages ## Measure the delivery of events to a stand-in for Loki: cost of refusals, catching up
	@cmake --preset release -DBREAKWATCH_TESTS=ON -DBREAKWATCH_BENCHMARKS=ON >/dev/null
	@cmake --build build/release --target delivery_benchmark -j $(JOBS)
	@build/release/tests/benchmarks/delivery_benchmark

.PHONY: bench-remote-write
bench-remote-write: packages ## Measure time and memory of remote write of a million series
	@cmake --preset release -DBREAKWATCH_TESTS=ON -DBREAKWATCH_BENCHMARKS=ON >/dev/null
	@cmake --build build/release --target remote_write_benchmark -j $(JOBS)
	@build/release/tests/benchmarks/remote_write_benchmark

.PHONY: bench-exposition
bench-exposition: packages ## Measure time and memory of writing a million series, and of prometheus-cpp on the same data
	@cmake --preset release -DBREAKWATCH_TESTS=ON -DBREAKWATCH_BENCHMARKS=ON >/dev/null
	@cmake --build build/release --target exposition_benchmark -j $(JOBS)
	@build/release/tests/benchmarks/exposition_benchmark

# SCALE_FLAGS='--models 20000': see the script.
SCALE_FLAGS ?=
.PHONY: bench-scale
bench-scale: build ## Measure memory and time of a sweep, a push, scrapes and reports at 100,000 models
	@python3 tests/benchmarks/bench_scale.py $(SCALE_FLAGS)

# START_FLAGS='--mib 4096': see the script.
START_FLAGS ?=
.PHONY: bench-start
bench-start: build ## Measure the start of a daemon on a store of 1 GiB whose state must be computed again
	@python3 tests/benchmarks/bench_start.py $(START_FLAGS)

.PHONY: bench
bench: bench-delivery bench-exposition bench-remote-write venv build ## Measure captures per minute, core time inside tracing and memory: BENCH_SET=60|20
	@.venv/bin/python tests/benchmarks/bench.py --set $(BENCH_SET) $(BENCH_FLAGS)
	@.venv/bin/python tests/benchmarks/bench_package.py

# IMAGE_FLAGS='--variant cpu --keep --record': see the script.
IMAGE_FLAGS ?=
.PHONY: image-test
image-test: test-venv packages ## Build the container image without Docker and use it, as root: 20 minutes, 40 GB of disk
	@$(call install,$(IMAGE_PACKAGES))
	@.venv-test/bin/python tests/docker/image.py $(IMAGE_FLAGS)

# ARTIFACTS_FLAGS='--only LlamaForCausalLM': see the script.
ARTIFACTS_FLAGS ?=
.PHONY: artifacts
artifacts: venv build ## Build and check a package of 31 model classes, update tests/artifact/packages.csv
	@.venv/bin/python tests/artifact/architectures.py $(ARTIFACTS_FLAGS)

# SAMPLE=1: every sixteenth model type, base classes. COVERAGE_FLAGS: see the script. TOOLCHAIN=NAME: another one, made by
# `make toolchain`; its table is tests/coverage/table-NAME.csv.
SAMPLE ?=
COVERAGE_FLAGS ?=
DIFFUSERS_FLAGS ?=
EVERY_TORCH_FLAGS ?=
.PHONY: coverage
coverage: $(if $(NAMED_TOOLCHAIN),,venv) ## Capture every model class of transformers from its default config: [SAMPLE=1] for a sample, [TOOLCHAIN=name]
	@python=".venv$(NAMED_TOOLCHAIN:%=-%)/bin/python"; \
	if [ ! -x "$$python" ]; then \
	  echo "No toolchain $(NAMED_TOOLCHAIN): make toolchain TORCH=... TRANSFORMERS=... [TOOLCHAIN=$(NAMED_TOOLCHAIN)]" >&2; exit 64; fi; \
	"$$python" tests/coverage/cover.py $(if $(NAMED_TOOLCHAIN),--toolchain "$(NAMED_TOOLCHAIN)") $(if $(SAMPLE),--sample) $(COVERAGE_FLAGS)

# FIXES_FLAGS='--sets snapshot --only Llava --renew': see the script.
FIXES_FLAGS ?=
.PHONY: fixes
fixes: venv ## Try the fixes on every broken model of the snapshot and every broken base class, update tests/coverage/fixes.csv
	@.venv/bin/python tests/coverage/cover_fixes.py $(FIXES_FLAGS)

# REPROS_FLAGS='--only bart --whole-only': see the script.
REPROS_FLAGS ?=
.PHONY: repros
repros: venv ## Run the files of `repro` for 30 models of the snapshot, update tests/coverage/repros.csv
	@.venv/bin/python tests/coverage/cover_repros.py $(REPROS_FLAGS)

.PHONY: coverage-diffusers
coverage-diffusers: venv ## Capture every model class of diffusers, update tests/coverage/diffusers.csv: DIFFUSERS_FLAGS='--only CLASS'
	@.venv/bin/python tests/coverage/cover_diffusers.py $(DIFFUSERS_FLAGS)

.PHONY: shrink-proof
shrink-proof: venv ## Compare reduced captures with full width and depth, update tests/coverage/shrink.csv
	@.venv/bin/python tests/coverage/shrink_proof.py

# AGAINST_FLAGS='--only views --modes eval,train': see the script.
AGAINST_FLAGS ?=
.PHONY: against-torch
against-torch: venv build ## Compare captures of further modules, in all modes, with plain torch
	@.venv/bin/python tests/coverage/against_torch.py $(AGAINST_FLAGS)

.PHONY: every-torch
every-torch: venv ## Test small models on every torch from 2.6 on (5 GB each), update a table
	@TOOLCHAIN_PACKAGES='$(OLDER_PACKAGES)' .venv/bin/python tests/coverage/every_torch.py $(EVERY_TORCH_FLAGS)

.PHONY: bench-trace
bench-trace: packages ## Measure speed and memory of `import`
	@cmake --preset release -DBREAKWATCH_TESTS=ON -DBREAKWATCH_BENCHMARKS=ON >/dev/null
	@cmake --build build/release --target trace_benchmark -j $(JOBS)
	@build/release/tests/benchmarks/trace_benchmark

.PHONY: lint
lint: test-packages ## Run clang-format, clang-tidy, ruff, shellcheck, promtool
	@$(call install,$(LINT_PACKAGES))
	@git ls-files '*.cc' '*.h' | xargs clang-format --dry-run --Werror
	@$(MAKE) test-venv && .venv-test/bin/ruff check -q .
	@shellcheck .ci/run $$(git ls-files '*.sh') config/debian/postinst config/debian/prerm config/debian/postrm
	@promtool check rules dashboards/rules/*.yml >/dev/null
	@cmake --preset dev >/dev/null && git ls-files 'daemon/*.cc' 'config/*.cc' 'collectors/*.cc' 'exporters/*.cc' 'dashboards/*.cc' | xargs -P $(JOBS) -n 4 clang-tidy -p build/dev --quiet

.PHONY: clean
clean: ## Remove build output; .venv and var stay
	@rm -rf build
