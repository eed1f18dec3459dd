# Fuzzing counts runs: with a time limit, the go command now and then reports its own deadline as a failure.
FUZZTIME ?= 20000x
# Time-outs of a package only turn a hang into a failure. They have slack for a machine five times slower.
TIMEOUT  ?= 60m
TOOL     := go tool -modfile=tools/go.mod

# The race detector needs cgo and a C compiler; the program itself needs neither.
RACE := $(shell set -- $$(go env CC); [ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$1" >/dev/null && echo -race)

# Packages whose goroutines share state.
SHARED := $(addsuffix /...,$(wildcard ./internal/auth ./internal/httpx ./internal/ingest ./internal/mcphttp ./internal/rs ./internal/server ./internal/store))

.PHONY: help build run test check race bench soak lint vuln fmt fuzz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/pdpp, a static binary
	CGO_ENABLED=0 go build -trimpath -o bin/pdpp ./cmd/pdpp

run: build ## build it and start the demo
	bin/pdpp demo

test: ## run the tests in their short form (five minutes on two cores)
	go test -short -timeout $(TIMEOUT) ./...

check: ## run the tests in full, with the race detector where there is a C compiler
	@$(if $(RACE),,echo "no C compiler: testing without the race detector" &&) go test $(RACE) -timeout $(TIMEOUT) ./...

race: ## repeat the tests of the concurrent packages under the race detector
	go test -race -short -count=3 -timeout $(TIMEOUT) $(SHARED)

bench: ## measure and print the performance report
	go run ./internal/bench/report

soak: build ## check the guarantees under ten minutes of mixed load, kills and revocations
	go run ./internal/bench/soak

lint: ## vet, nilness, staticcheck, gofumpt
	go vet ./...
	go vet -vettool="$$($(TOOL) -n nilness)" ./...
	$(TOOL) staticcheck ./...
	@files=$$($(TOOL) gofumpt -l .) && [ -z "$$files" ] || { echo "not formatted, run make fmt:" $$files; exit 1; }

vuln: ## report known vulnerabilities, where the database can be reached
	@"$$($(TOOL) -n govulncheck)" ./... || { [ $$? -ne 3 ] && echo "govulncheck did not run. Is https://vuln.go.dev reachable?"; }

fmt: ## format all Go files
	$(TOOL) gofumpt -w .

fuzz: ## run each fuzz target FUZZTIME times (20000x)
	@set -e; for pkg in $$(go list ./...); do names=$$(go test -list '^Fuzz' $$pkg); \
	for f in $$(echo "$$names" | grep '^Fuzz' || true); do go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg; done; done
