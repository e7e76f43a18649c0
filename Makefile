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
PKG       ?=
TIME      ?= 1m
LDFLAGS   := -s -w -X $(PREFIX)/internal/version.Version=$(VERSION) -X $(PREFIX)/internal/version.Revision=$(REVISION)
TRIMPATH  ?= -trimpath
GOBUILD   := go build $(TRIMPATH) -buildvcs=false -ldflags "$(LDFLAGS)"

# $(call tested,arguments[,suffix]) runs go test over packages of all modules at once, so that no core waits for the last package
# of a module, and reports on it. Everything that the tests say is kept in bin/<target>.json; a second call of a target gives
# its file a suffix. AGAIN=1 runs up to three failed tests a second time and lists those that pass then as unstable, so that one
# of 2,000 tests cannot stop a delivery alone. GOGC is for compilers, not for tests, many of which are about memory.
tested = mkdir -p bin; go build -o bin/testreport ./internal/testreport; $(if $(filter -race,$(1)),export CGO_ENABLED=1;) \
  (go test -json -timeout 25m $(if $(GOGC),-exec 'env -u GOGC') $(1) || echo '{"Action": "failed"}') | env -u GOGC bin/testreport -trim $(PREFIX)/ -events bin/$@$(2).json $(REPORT) \
  $(if $(AGAIN),-again '-timeout 25m $(filter -race -short -vet=off -count=1,$(1))')

# $(call tests,A B) is the regular expression of the tests TestA and TestB.
space := $(subst ,, )
tests = ^Test($(subst $(space),|,$(strip $(1))))$$

ALL := $(MODULES:%=./%/...)
# Packages whose own code starts goroutines or guards something against those of others, and the programs.
RACE = ./cmd/config-reloader ./cmd/rules-reloader $(filter-out ./cmd/commands,$(shell for d in $$(grep -rlE --include=*.go --exclude=*_test.go -e '^\s*go ' -e 'sync\.[MRWC]' -e '"sync/atomic"' $(MODULES) | \
  xargs -n1 dirname | sort -u); do ls $$d/*_test.go >/dev/null 2>&1 && echo ./$$d; done))
# Tests on an API server in which all controllers, the web server and the webhooks work: the operator has the race detector.
CONCURRENT := AgentDaemonSet Alertmanager AlertmanagerBindings Bindings BadObjectsStandAlone References SelectionFollowsLabels HTTPAPI.* Kubelet Replicas Ruler RulerRejectsRulesAlone Webhooks
RACED := $(call tests,$(CONCURRENT))
# Those that only run with it if ONCE is set. All tests together must use each permission of deploy/rbac.yaml, and two use some that no other uses.
ONLY_RACED := $(call tests,$(filter-out AgentDaemonSet AlertmanagerBindings,$(CONCURRENT)))
# Long tests of what the code writes and reads, not of what it does at the same time.
UNRACED_NAMES := NoSecretInAnyConfig ManyObjectsWithCredentials EnforceRandomExpressions RenderEqualsTheDetourOverJSON RenderIsReadBackUnchanged NewerVersionsTakeMore \
  SuggestionsAreBounded PackRandomHistories AChangeSeldomCompressesTheNextChunk ChunkedStaysCloseToOneStream AChangeCompressesFewBytes OneChangeChangesOnePart HostileValues \
  EveryFieldOfTheAPI SliceProperties RefusalsAreBounded ContentReadsLikeWithTheUsualDecoders ContentIsNotCopied PackedIsWhole PackedBytes StoredButNotDecodable MisfitsAreFound \
  OrderDoesNotMatter ManyLargeObjects ListsOfKubernetesComeInPages NoOracle ManyDocuments PutAll Hostile Steps TraceIsBounded ScaleUp ScaleDown NoScaleDown LoadUpAndDown \
  WeightedShards WeightedAndBack WeightedDeadShard TrimmedObjectsGiveTheSameGroups LongSelectorsAreNotKept TooLarge MemoryOfOneChange WorstObjects TemplatesWithoutEnd
UNRACED := $(call tests,$(UNRACED_NAMES))
# Packages of whose tests -short leaves some out: they start an API server or a browser, or take long.
LONGER = $(filter-out ./operator/dev/truth ./operator/dev/e2e%,$(shell grep -rlE --include=*_test.go -e 'testing\.Short' -e 'clustertest\.' $(MODULES) | xargs -n1 dirname | sort -u | sed 's|^|./|'))

# With ONCE=1, as in .ci/run, no test runs twice: `test` leaves those to `integration` and `race` that run there, too, and
# lasting ones are left to `make integration` and `make test-long`.
LASTING := Migration MovesUnderKills Moves ManyStoredObjects LeastPrivilegeAtScale KubeletLarge
TESTED  = $(shell go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' $(ALL) | sed "s|^$$(pwd -P)|.|")
SELDOM  = $(shell grep -rlwF --include=*_test.go $(UNRACED_NAMES:%=-e 'func Test%') $(MODULES) | xargs -n1 dirname | sort -u | sed 's|^|./|')

# Packages with golden files that their tests can rewrite.
GOLDEN = $(filter-out ./operator/dev/%,$(shell grep -rlE --include=*_test.go -e 'internal/golden"' -e 'flag.Bool."update"' $(MODULES) | xargs -n1 dirname | sort -u | sed 's|^|./|'))

# Go needs a build cache, and that of the user may be missing, full or read-only.
export GOCACHE := $(shell (d=$$(go env GOCACHE | grep ^/) && mkdir -p "$$d" && head -c 1048576 /dev/zero >"$$d/writable" && \
  echo "$$d" || echo "$(CURDIR)/.cache/go-build"; rm -f "$$d/writable") 2>/dev/null)

# The usual builds have no cgo, like those of a release and of the programs of a cluster, with which they share compiled packages. Without
# TRIMPATH, those of images do, too.
export CGO_ENABLED := 0

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
test: ## Run the tests that need neither an API server nor a node (PKG=./operator/config/rules: all tests of a package, with the race detector)
ifeq ($(ONCE),)
	@$(call tested,$(if $(PKG),-race $(PKG),-short $(ALL)))
else
	@$(call tested,-short -vet=off $(filter-out $(RACE) $(LONGER) ./operator/dev/e2e% ./operator/dev/truth,$(TESTED)))
	@$(call tested,-short -vet=off -run '$(UNRACED)' $(filter-out $(LONGER),$(filter $(RACE),$(SELDOM))),-unraced)
endif

.PHONY: integration
# Four packages at a time, as most of them wait most of the time.
integration: ## Run all tests of packages of which `test` leaves some out, because they start an API server or take long
	@$(call tested,-vet=off -p 4 $(if $(ONCE),-skip '$(call tests,$(LASTING))') $(filter-out ./operator/dev/integration,$(LONGER)))
	@$(call tested,-vet=off $(if $(ONCE),-skip '$(call tests,$(LASTING))|$(ONLY_RACED)') ./operator/dev/integration,-operators)

.PHONY: race
race: export FIREKEEPER_RACE := 1
race: ## Run what `test` runs of packages with goroutines, and an operator of each kind on an API server, with the race detector
	@$(call tested,-vet=off -race -short -skip '$(UNRACED)' $(RACE))
	@$(call tested,-vet=off -run '$(RACED)' ./operator/dev/integration,-operators)

.PHONY: race-ahead node-ahead
race-ahead: ## Compile what `race` needs
	@CGO_ENABLED=1 go list -race -export -deps -test $(RACE) ./cmd/operator >/dev/null
node-ahead: ## Build the programs that only a node needs
	@$(CLUSTER) programs kube-scheduler kubelet kube-proxy coredns pause >/dev/null

.PHONY: test-long
test-long: export FIREKEEPER_RACE=1 FIREKEEPER_MODEL=1 FIREKEEPER_PROMTOOLS=all FIREKEEPER_PROMETHEUSES=1 FIREKEEPER_LOAD=1 FIREKEEPER_TRUTH=200 FIREKEEPER_EVENTS=2000 FIREKEEPER_CLOCKS=1
test-long: ## Run everything that needs no node with the race detector: all releases of the checkers, load, long random runs (over an hour)
	@$(call tested,-race -timeout 3h $(ALL))

.PHONY: test-update
test-update: ## Rewrite golden files; review the diff before you commit it
	@go test -short $(GOLDEN) -update

.PHONY: bench
bench: ## Run the benchmarks (COUNT=10 for benchstat)
	@for m in $(MODULES); do (cd $$m && go test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) ./... | grep -v 'no test files'); done

.PHONY: bench-cluster
bench-cluster: build ## Time single changes of the operator against a real API server (ARGS="--sizes 1000/200 --samples 20")
	@go run ./operator/dev/bench $(ARGS)

.PHONY: envelope
envelope: build ## Measure what grows up to 200,000 monitors, and write the section of docs/performance.md (an hour; ARGS="--quick", ARGS="--only pods")
	@go run ./operator/dev/bench envelope $(ARGS)

.PHONY: bench-discovery
bench-discovery: build ## Compare central discovery with the discovery of servers (quarter of an hour; PROMETHEUS=path, ARGS="--jobs 2000 --endpoints 50" without PROMETHEUS: the service alone)
	@go run ./operator/dev/bench discovery $(if $(PROMETHEUS),--prometheus $(PROMETHEUS)) $(ARGS)

.PHONY: adversary
adversary: build ## Attack an installation with hostile objects and requests for hours (root; ARGS="--objects 2000 --seed 7")
	@go run ./operator/dev/adversary/run $(ARGS)

.PHONY: chaos
chaos: export FIREKEEPER_CHAOS ?= all
chaos: REPORT := -each
chaos: ## Kill an operator at each of its writes, disturb it in every other way, and write docs/reliability.md (FIREKEEPER_CHAOS=20m: a part)
	@$(call tested,-count=1 -vet=off -timeout 5h -parallel 4 ./operator/dev/chaos/...)

.PHONY: outages
outages: export FIREKEEPER_OUTAGES ?= all
outages: REPORT := -each
outages: ## Kill each part of central discovery in each step of a migration and while targets move, and look for gaps in scrapes (half an hour; FIREKEEPER_OUTAGES=7 makes four random ones, all:7 all with another seed)
	@$(call tested,-count=1 -vet=off ./operator/dev/outages)

.PHONY: moves
moves: export FIREKEEPER_MOVES ?= 5s,15s,30s
moves: REPORT := -each
moves: ## Change the number of shards, and look for gaps in the scrapes of 300 targets (hours; FIREKEEPER_MOVES=5s FIREKEEPER_MOVES_TARGETS=20: a quarter of an hour)
	@$(call tested,-count=1 -timeout 10h -run TestMoves ./operator/dev/outages)

.PHONY: autoscale
autoscale: export FIREKEEPER_AUTOSCALE := 1
autoscale: REPORT := -each
autoscale: ## Give the targets of agents four times the series and take them away again: shards follow, and no sample is lost (an hour)
	@$(call tested,-count=1 -timeout 4h -run 'TestLoad$$' ./operator/dev/outages)

.PHONY: soak
soak: DURATION ?= 1h
soak: SEED ?= 1
soak: TENANTS ?= 6
soak: ## Change objects of many tenants under faults at random, with servers, for an hour, and write the section of docs/reliability.md (DURATION=8h SEED=7 TENANTS=20)
	@go test -count=1 -vet=off -v -timeout 0 ./operator/dev/soak -args -for $(DURATION) -tenants $(TENANTS) -seed $(SEED) -record
	@go test -count=1 -vet=off -run TestPage ./operator/dev/chaos -update

.PHONY: fuzz
fuzz: ## Fuzz one property: make fuzz FUZZ=FuzzExpand PKG=./internal/gate TIME=1m
	@test -n "$(FUZZ)" || { echo "FUZZ is not set; there are:"; grep -rhoE 'func Fuzz[A-Za-z]+' --include=*_test.go . | sort -u; exit 2; }
	go test -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime $(TIME) $(or $(PKG),./...)

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
	@tool=$$(cd internal/tools && GOWORK=off go tool -n staticcheck); export GOGC=400; go vet $(ALL) && "$$tool" $(ALL)

.PHONY: verify
verify: ## Fail if generated files, formatting or modules are out of date
	@before=$$(git status --porcelain; git diff); $(MAKE) generate fmt tidy >/dev/null; after=$$(git status --porcelain; git diff); \
	  if [ "$$before" != "$$after" ]; then echo "make generate fmt tidy changes the tree:"; git status --short; exit 1; fi
	@echo "generated files, formatting and modules are current"

.PHONY: check
check: verify lint test integration race ## Run all checks for a change but those that need a node

##@ Clusters

.PHONY: cluster-up
cluster-up: ## Start a one-node Kubernetes on this machine (root); leaves .cluster/kubeconfig and .cluster/bin/kubectl
	@$(CLUSTER) up

.PHONY: cluster-down
cluster-down: ## Stop it and remove everything it created
	@$(CLUSTER) down

.PHONY: e2e e2e-long
e2e: export FIREKEEPER_E2E := 1
e2e: ## Run tests on a node: takeover, life of a Prometheus, an Alertmanager and a ThanosRuler, latencies (root)
e2e-long: export FIREKEEPER_E2E := long
e2e-long: ## Run all tests on a node, with kube-prometheus, the chart and every kind of rollout (root, about twenty minutes)
e2e e2e-long: REPORT := -each
e2e e2e-long:
	@$(call tested,-count=1 -vet=off -parallel 5 ./operator/dev/e2e/...)

.PHONY: chaos-node
chaos-node: export FIREKEEPER_E2E := long
chaos-node: export FIREKEEPER_CHAOS := all
chaos-node: REPORT := -each
chaos-node: ## Kill pods, reloaders, the kubelet and containerd in each state of a change, and write docs/reliability.md (root; ten minutes)
	@$(call tested,-count=1 -vet=off -run TestFaultsOfANode ./operator/dev/e2e)

.PHONY: upgrade
upgrade: export FIREKEEPER_E2E := long
upgrade: export FIREKEEPER_UPGRADE_FROM = $(FROM)
upgrade: ## Replace the operator of FROM by this one and back, with pods running: none may restart (FROM=v0.1.0; root)
	@test -n "$(FROM)" || { echo "FROM names no commit: make upgrade FROM=v0.1.0"; exit 2; }
	@$(call tested,-count=1 -vet=off -run TestUpgrade ./operator/dev/e2e)

.PHONY: truth
truth: export FIREKEEPER_TRUTH ?= 5
truth: ## Compare targets of random workloads with those of each Prometheus that is built already (FIREKEEPER_TRUTH=500 scenarios)
	@$(call tested,-vet=off -run TestRandom ./operator/dev/truth)

.PHONY: demo
demo: ## Show it all on KUBECONFIG, kind or a node of our own (DEMO_ON=kind|node): time how long changes take, let an alert arrive (DEMO_DISCOVERY=central: find targets centrally, too)
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
