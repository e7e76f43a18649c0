# Firekeeper. `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX    := github.com/firekeeper-dev/firekeeper
MODULES   := cmd internal operator reloaders/config-reloader reloaders/rules-reloader
PROGRAMS  := operator config-reloader rules-reloader
VERSION   ?= $(shell cat .version)
REVISION  ?= $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
PLATFORMS ?= linux-$(shell go env GOARCH)
IMAGE     ?= firekeeper
TAG       ?= v$(VERSION)
CLUSTER   := go run ./internal/cluster/clusterctl
PKG       ?= ./...
TIME      ?= 1m
LDFLAGS   := -s -w -X $(PREFIX)/internal/version.Version=$(VERSION) -X $(PREFIX)/internal/version.Revision=$(REVISION)
GOBUILD   := CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)"

# $(call each,verb,command) runs a command in every module, also after one has failed, and names at the end those
# that have.
each = failed=; for m in $(MODULES); do echo "$(1) $$m"; (cd $$m && $(2)) || failed="$$failed $$m"; done; \
  if [ -n "$$failed" ]; then echo "$(1) failed in:$$failed"; exit 1; fi

# Go needs a build cache, and that of the user may be missing, full or read-only.
export GOCACHE := $(shell (d=$$(go env GOCACHE | grep ^/) && mkdir -p "$$d" && head -c 1048576 /dev/zero >"$$d/writable" && \
  echo "$$d" || echo "$(CURDIR)/.cache/go-build"; rm -f "$$d/writable") 2>/dev/null)

##@ Everyday

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the three programs into bin/
	@mkdir -p bin
	@for p in $(PROGRAMS); do echo "build bin/$$p"; $(GOBUILD) -o bin/$$p ./cmd/$$p; done

.PHONY: test
test: ## Run all tests with the race detector, except those that need a node (PKG=./operator/rules narrows)
	@if [ "$(PKG)" != "./..." ]; then go test -race -timeout 30m $(PKG); else $(call each,test,go test -race -timeout 30m ./...); fi

.PHONY: test-update
test-update: ## Rewrite golden files; review the diff before you commit it
	@cd operator && go test ./promconfig/... ./workload/... ./rules/... ./render/... -update

.PHONY: bench
bench: ## Run the benchmarks (COUNT=10 for benchstat)
	@for m in $(MODULES); do (cd $$m && go test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) ./... | grep -v 'no test files'); done

.PHONY: bench-cluster
bench-cluster: build ## Time single changes of the operator against a real API server (ARGS="--sizes 1000/200 --samples 20")
	@go run ./cmd/bench $(ARGS)

.PHONY: fuzz
fuzz: ## Fuzz one property: make fuzz FUZZ=FuzzExpand PKG=./internal/gate TIME=1m
	@test -n "$(FUZZ)" || { echo "FUZZ is not set; there are:"; grep -rhoE 'func Fuzz[A-Za-z]+' --include=*_test.go . | sort -u; exit 2; }
	go test -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime $(TIME) $(PKG)

##@ Quality

.PHONY: generate
generate: ## Write deep copies, CRDs and reference pages
	@internal/tools/generate.sh
	@for f in internal/tools/generate.d/*.sh; do [ -e "$$f" ] || continue; echo "$$f"; "$$f"; done

.PHONY: fmt
fmt: ## Format the code
	@gofmt -w $(MODULES)

.PHONY: tidy
tidy: ## Tidy the modules
	@for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy); done

.PHONY: lint
lint: ## Vet and staticcheck
	@tool=$$(cd internal/tools && GOWORK=off go tool -n staticcheck); $(call each,lint,go vet ./... && "$$tool" ./...)

.PHONY: verify
verify: ## Fail if generated files, formatting or modules are out of date
	@before=$$(git status --porcelain; git diff); $(MAKE) generate fmt tidy >/dev/null; after=$$(git status --porcelain; git diff); \
	  if [ "$$before" != "$$after" ]; then echo "make generate fmt tidy changes the tree:"; git status --short; exit 1; fi
	@echo "generated files, formatting and modules are current"

.PHONY: check
check: verify lint test ## Run all checks for a change

##@ Clusters

.PHONY: cluster-up
cluster-up: ## Start a one-node Kubernetes on this machine (root); leaves .cluster/kubeconfig and .cluster/bin/kubectl
	@$(CLUSTER) up

.PHONY: cluster-down
cluster-down: ## Stop it and remove everything it created
	@$(CLUSTER) down

.PHONY: e2e
e2e: ## Run the tests that need a node: takeover, life of a Prometheus, latencies (root, about six minutes)
	@cd cmd && FIREKEEPER_E2E=1 go test -count=1 -timeout 40m -parallel 8 -v ./e2e/...

.PHONY: demo
demo: ## Start a cluster, the operator and a Prometheus, and time how long changes take to be live
	@go run ./internal/cluster/demo up

.PHONY: demo-down
demo-down: ## Remove what `make demo` created
	@go run ./internal/cluster/demo down

.PHONY: run
run: build ## Run the operator here, against the cluster of KUBECONFIG
	bin/operator --instant-delivery

##@ Release

.PHONY: image-files
image-files:
	@mkdir -p bin/image && printf 'root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n' > bin/image/passwd
	@cp "$$(ls /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem 2>/dev/null | head -1)" bin/image/ca-certificates.crt
	@for p in $(PLATFORMS); do echo "build for $$p"; d=bin/image/$$p; mkdir -p $$d/config-reloader $$d/rules-reloader; \
	  export GOOS=$${p%-*} GOARCH=$${p#*-}; \
	  $(GOBUILD) -o $$d/operator ./cmd/operator; \
	  for r in config-reloader rules-reloader; do $(GOBUILD) -o $$d/$$r/$$r ./cmd/$$r; ln -sf $$r $$d/$$r/reloader; done; \
	  ln -sf config-reloader $$d/config-reloader/prometheus-config-reloader; done

.PHONY: images
images: image-files ## Build the images with buildah or docker (IMAGE=registry/firekeeper TAG=v1 PLATFORMS="linux-amd64 linux-arm64")
	@if command -v buildah >/dev/null; then b="buildah --storage-driver=vfs bud"; else b="docker build"; fi; \
	  for p in $(PLATFORMS); do a="--build-arg TARGETOS=$${p%-*} --build-arg TARGETARCH=$${p#*-}"; \
	    suffix=$$([ "$(words $(PLATFORMS))" = 1 ] || echo "-$${p#*-}"); \
	    $$b $$a -f Dockerfile.operator -t $(IMAGE)/operator:$(TAG)$$suffix .; \
	    for r in config-reloader rules-reloader; do $$b $$a --build-arg RELOADER=$$r -f Dockerfile.reloader -t $(IMAGE)/$$r:$(TAG)$$suffix .; done; done

.PHONY: clean
clean: ## Remove build results
	rm -rf bin .cache
