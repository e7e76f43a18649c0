# Firekeeper. `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX    := github.com/firekeeper-dev/firekeeper
MODULES   := cmd internal operator reloaders/config-reloader reloaders/rules-reloader
PROGRAMS  := operator config-reloader rules-reloader
PLUGIN    ?= bin
VERSION   ?= $(shell cat .version)
REVISION  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
PLATFORMS ?= linux-$(shell go env GOARCH)
IMAGE     ?= firekeeper
TAG       ?= v$(VERSION)
RELEASED  ?= linux-amd64 linux-arm64
RELEASE   ?= $(CURDIR)/bin/release
EPOCH     ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
CLUSTER   := go run ./internal/cluster/clusterctl
PKG       ?= ./...
TIME      ?= 1m
LDFLAGS   := -s -w -X $(PREFIX)/internal/version.Version=$(VERSION) -X $(PREFIX)/internal/version.Revision=$(REVISION)
GOBUILD   := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$(LDFLAGS)"

# $(call each,verb,command) runs a command in every module, also after one has failed, and names at the end those
# that have, and the tests.
each = failed=; log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
  for m in $(MODULES); do echo "$(1) $$m"; (cd $$m && $(2)) 2>&1 | tee -a "$$log" || failed="$$failed $$m"; done; \
  if [ -n "$$failed" ]; then $(failures) "$$log"; echo "$(1) failed in:$$failed"; exit 1; fi

# Which tests failed, and what each says, without the logs of programs: the last word of a failed run. With -v what a
# test says comes before its result, where lines of tests are mixed; without it comes after.
failures = awk -f internal/tools/failures.awk

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

.PHONY: plugin
plugin: ## Build the plugin of kubectl, and what completes its arguments (PLUGIN=~/.local/bin)
	@mkdir -p $(PLUGIN); $(GOBUILD) -o $(PLUGIN)/kubectl-firekeeper ./cmd/kubectl-firekeeper
	@printf '#!/bin/sh\nkubectl-firekeeper --completion-bash "$$@"\necho\necho :0\n' > $(PLUGIN)/kubectl_complete-firekeeper; chmod +x $(PLUGIN)/kubectl_complete-firekeeper

.PHONY: test
test: ## Run all tests with the race detector, except those that need a node (PKG=./operator/rules narrows)
	@if [ "$(PKG)" != "./..." ]; then go test -race -timeout 45m $(PKG); else $(call each,test,go test -race -timeout 45m ./...); fi

.PHONY: test-update
test-update: ## Rewrite golden files; review the diff before you commit it
	@cd operator && go test ./promconfig/... ./promworkload/... ./rules/... ./thanosruler/... ./alertmanager/... ./amconfig/... -update
	@cd cmd && go test ./commands -run 'Test(Render|Lint|Explain|Route|ChartTemplates)$$' -update

.PHONY: bench
bench: ## Run the benchmarks (COUNT=10 for benchstat)
	@for m in $(MODULES); do (cd $$m && go test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) ./... | grep -v 'no test files'); done

.PHONY: bench-cluster
bench-cluster: build ## Time single changes of the operator against a real API server (ARGS="--sizes 1000/200 --samples 20")
	@go run ./operator/test/bench $(ARGS)

.PHONY: adversary
adversary: build ## Attack an installation with hostile objects and requests for hours (root; ARGS="--objects 2000 --seed 7")
	@go run ./operator/test/adversary/run $(ARGS)

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
	@for m in $(MODULES) internal/tools/release; do (cd $$m && GOWORK=off go mod tidy); done

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
e2e: MODULES := operator
e2e: ## Run the tests that need a node: takeover, life of a Prometheus, of a Helm release, latencies (root, about twenty minutes)
	@$(call each,e2e,FIREKEEPER_E2E=1 go test -count=1 -timeout 40m -parallel 8 -v ./test/e2e/...)

.PHONY: demo
demo: ## Show it all on KUBECONFIG, kind or a node of our own (DEMO_ON=kind|node): time how long changes take, let an alert arrive
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

.PHONY: release
release: PLATFORMS := $(RELEASED)
release: ## Write binaries, images, SBOMs, manifests, the chart and checksums into bin/release, without a container engine (IMAGE, TAG)
	@$(MAKE) image-files PLATFORMS="$(PLATFORMS)"
	@for p in $(PLATFORMS); do GOOS=$${p%-*} GOARCH=$${p#*-} $(GOBUILD) -o bin/image/$$p/kubectl-firekeeper ./cmd/kubectl-firekeeper; done
	@echo "write $(RELEASE)"; cd internal/tools/release && GOWORK=off go run . -root $(CURDIR) -binaries $(CURDIR)/bin/image -out $(RELEASE) \
	  -image $(IMAGE) -tag $(TAG) -version $(VERSION) -revision $(REVISION) -epoch $(EPOCH) -platforms "$(PLATFORMS)"

.PHONY: release-check
release-check: ## Test what writes a release, then release the last commit twice, in two folders, and compare
	@cd internal/tools/release && GOWORK=off go vet ./... && GOWORK=off go test ./...
	@two=$$(mktemp -d); trap 'rm -rf "$$two"' EXIT; for n in first second; do mkdir -p "$$two/$$n"; git archive HEAD | tar -x -C "$$two/$$n"; \
	  $(MAKE) -C "$$two/$$n" release REVISION=$(REVISION) EPOCH=$(EPOCH); done; \
	  diff -r "$$two/first/bin/release" "$$two/second/bin/release" && cd "$$two/first/bin/release" && sha256sum --quiet --check SHA256SUMS && \
	  echo "both releases are the same" && cat SHA256SUMS

.PHONY: clean
clean: ## Remove build results
	rm -rf bin .cache
