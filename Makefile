# The verbs for people. `make help` lists them; everything else is CMake (CMakePresets.json).
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
export DAVIT_NO_SKIPS ?=
# What one clone has compiled, another takes from ccache.
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1

.DEFAULT_GOAL := help
.PHONY: help run test test-long check bench kubernetes torture test-postgres bench-postgres soak converge faults packages image packages-test simulation fuzz lint format dependencies configure build build-asan build-tsan

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

run: ## install what is needed, build, run a server and an agent, apply an example; CLUSTERS=1: three clusters are built, too
	@packaging/install-dependencies.sh $(if $(CLUSTERS),--clusters,--run-only)
	@$(MAKE) build BUILD_TESTING=OFF PRESET_DIR=build/run
	@etc/demo/$(if $(CLUSTERS),clusters/)run.sh build/run/stage

test: ## install what is needed, build, test everything: sanitizers, a real Kubernetes, fuzzing, a short bench
	@tests/run.sh

check: ## the quick part of `make test`: unit and conformance tests of one build; ONLY=applier for one folder
	@packaging/install-dependencies.sh
	@tests/check.sh $(ONLY)

bench: ## measure, as ratios against named peers in the same run; writes build/bench/result.json
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@tests/e2e/python.sh tests/bench/run.py --build build/release

kubernetes: ## bring up a real Kubernetes API for yourself; prints the kubeconfig; Ctrl-C ends it
	@packaging/install-dependencies.sh
	@tests/kubernetes/build.sh >/dev/null
	@tests/kubernetes/rig.py up --foreground --dir build/kubernetes

torture: ## a server killed under load for ten minutes, two for a million commits, the storage torture on every backend
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@DAVIT_TORTURE_SECONDS=600 tests/torture/torture.py --build build/release
	@DAVIT_TORTURE_SECONDS=600 DAVIT_TORTURE_COMMITS=1000000 tests/torture/torture.py --build build/release --several
	@DAVIT_TORTURE_SECONDS=600 ctest --test-dir build/release --output-on-failure -R conformance --timeout 4000

test-long: ## what `make test` leaves out: more forms of the requests, more under ThreadSanitizer, mutants with whole suites
	@tests/long.sh

test-postgres: ## the end-to-end tests once more, with the servers' stores on PostgreSQL
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@tests/kubernetes/build.sh >/dev/null
	@DAVIT_E2E_STORE=postgres ctest --test-dir build/release --output-on-failure -L e2e -E 'torture|on_postgres'

bench-postgres: ## the bench once more, with the servers' stores on PostgreSQL
	@DAVIT_E2E_STORE=postgres $(MAKE) bench

soak: ## twenty minutes of a server and agents under steady change: memory and descriptors stay flat
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@tests/torture/soak.py --build build/release

converge: ## 1,000 deployments, 100 sentinels, 200 policies on a real Kubernetes, ten rounds of changes on both sides
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@tests/kubernetes/build.sh >/dev/null
	@tests/e2e/converge.py --build build/release $(CONVERGE)

faults: ## the long forms of the faults on a real Kubernetes: a kill after every call, each right taken away, 1,000 objects; more than an hour
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@tests/kubernetes/build.sh >/dev/null
	@DAVIT_LONG=1 ctest --test-dir build/release --output-on-failure --timeout 7200 \
	  -R 'e2e\.(api_faults|control_plane|restarts|clocks|kills|rights|manifest|secrets|transit)\.'

packages: ## build the packages of this commit, deb and rpm, into build/packages; KINDS=deb: one of them; DEBIAN=trixie: on it
	@packaging/install-dependencies.sh
	@$(if $(DEBIAN),packaging/build-on.sh $(DEBIAN),packaging/build.sh $(KINDS))

image: ## build a container image (OCI) of the packages: build/image/*.oci.tar. No root, no container runtime
	@packaging/install-dependencies.sh
	@packaging/image.sh

packages-test: ## test the packages in fresh roots of Debian 12, and two builds: more than half an hour; DEBIAN=trixie: on it
	@packaging/install-dependencies.sh
	@DAVIT_DEBIAN=$(DEBIAN) tests/packages/run.sh $(if $(DEBIAN),test_life test_units test_third_party test_image,--long)

simulation: ## ten minutes of server, agent and cluster in virtual time and five of federation, with seeded faults, and planted bugs
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@timeout 600 build/release/tests/simulation/simulation --seeds $${DAVIT_SIMULATION_SEED:-1} 1000000 || [ $$? = 124 ]
	@timeout 300 build/release/tests/simulation/simulation --seeds $${DAVIT_SIMULATION_SEED:-1} 1000000 --scene federation || [ $$? = 124 ]
	@tests/simulation/bugs.py --build build/release

FUZZ_SECONDS ?= 3600
fuzz: ## an hour of each fuzz target, two at a time (FUZZ_SECONDS)
	@packaging/install-dependencies.sh
	@$(MAKE) build-asan TARGETS="--target fuzz-targets"
	@tests/fuzz/run.sh build/asan $(FUZZ_SECONDS)

lint: ## clang-tidy over the product's sources, which takes hours; ONLY=plugins/applier for one folder
	@packaging/install-dependencies.sh
	@$(MAKE) build
	@run-clang-tidy -quiet -p build/release -j $(JOBS) '^$(CURDIR)/$(or $(ONLY),(host|plugins|sdk))/.*'

format: ## clang-format everything
	@git ls-files '*.cpp' '*.hpp' '*.h' | xargs clang-format -i

dependencies: ## install what building and testing needs
	@packaging/install-dependencies.sh

PRESET_DIR ?= build/release
BUILD_TESTING ?= ON
configure:
	@mkdir -p build
	@cmake --preset release -B $(PRESET_DIR) -DBUILD_TESTING=$(BUILD_TESTING) >$(PRESET_DIR).configure.log 2>&1 \
	  || { cat $(PRESET_DIR).configure.log; exit 1; }

build: configure
	@cmake --build $(PRESET_DIR) -j$(JOBS)

build-asan build-tsan: build-%:
	@mkdir -p build
	@cmake --preset $* >build/$*.configure.log 2>&1 || { cat build/$*.configure.log; exit 1; }
	@cmake --build --preset $* -j$(JOBS) $(TARGETS)
