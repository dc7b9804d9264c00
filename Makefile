# What is worth doing by name. `make` alone lists it; how a thing is done stands in hack/, where it takes more than a line.
#
# Tools (tools/go.mod) and the control plane of the tests (test/controlplane/go.mod) are built from their Go modules once and
# kept in GATEWRIGHT_CACHE, by default ~/.cache/gatewright.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
# Tests come last, so that their results are what one sees last.
.NOTPARALLEL:

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
IMAGE ?= gatewright/gatewright-controller:$(VERSION)

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

.PHONY: generate
generate: ## Write deep copies, CRDs and the API reference anew from api/
	hack/generate

.PHONY: verify
verify: ## Fail if anything generated is not current
	@hack/verify

.PHONY: fmt
fmt: ## Format the Go code
	@hack/lint fmt

.PHONY: lint
lint: ## Look for mistakes, bad style and broken walls
	@hack/lint

.PHONY: test
test: ## Everything that CI runs: verify, lint, and all tests against a real API server
	@$(MAKE) --keep-going verify lint unit

.PHONY: unit
unit: ## All tests of all modules, and nothing but tests
	@HELM=$$(hack/tool helm) && export HELM && hack/with-control-plane hack/test

.PHONY: conformance
conformance: ## Run Gateway API's conformance suite, and write docs/conformance.md
	@mkdir -p bin
	@go -C test/conformance test -run '^TestConformance$$' -timeout 40m \
	  -artifacts -outputdir $(CURDIR)/bin -args -suite -version $(VERSION)

# BENCH picks benchmarks by a regular expression; BENCH_FULL=1 runs the workloads at their full size.
BENCH ?= .
BENCH_FULL ?=

.PHONY: fuzz
fuzz: ## Look for strings and templates that break what tests promise (FUZZTIME=30s for each target)
	@hack/fuzz

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities; needs the Go vulnerability database, or GOVULNDB=file:///a/copy
	@hack/vulncheck

.PHONY: bench
bench: ## Run the benchmarks, and write their table into test/bench/README.md
	@hack/with-control-plane go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m -p 1 $$(go list ./... | grep -v /test/bench$$)
	@GATEWRIGHT_BENCH_TABLE=$(CURDIR)/test/bench/README.md hack/with-control-plane \
		go test -run '^$$' -bench '$(BENCH)' -benchtime 3x -timeout 120m ./test/bench $(if $(BENCH_FULL),-full)

.PHONY: faults
faults: ## Have everything go wrong, at every write of the controller, and look whether anything is lost
	@hack/with-control-plane go test ./test/faults -timeout 60m -v -args -all

.PHONY: demo
demo: ## From nothing to a rendered Gateway on a real API server; Ctrl-C ends it (DEMO_EXIT=1: ends by itself)
	@echo 'demo: compiling (a minute or two the first time)'
	@go run ./test/demo

.PHONY: build
build: ## Build static binaries into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./cmd/...

.PHONY: image
image: ## Build the controller's container image
	docker build --build-arg VERSION=$(VERSION) -t $(IMAGE) .
