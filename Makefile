# The two commands that a newcomer needs are `make up` and `make test`. Both first
# install Python if it is missing; Go, git and make are the only other needs.
GO ?= go

# No test is skipped for want of Python here (internal/environment/pyhost/needed).
export DEVNET_PYTHON = required

# No C compiler is needed, and what is vetted, tested and built is compiled once.
export CGO_ENABLED = 0

.PHONY: up test test-unmeasured vet vet-compiled vet-sources words race race-shared coverage bench bench-against digests unchanged prices prices-bounded siege soak plants pythons fuzz peers all-checks build python wheel release try-release image containers testcontainers manifests openapi browser page-types page-figures pictures

# More flags: make up ARGS="--policy fifo --http 127.0.0.1:4001". On a terminal the
# network is a job of its own, so that Ctrl-C ends it alone, and make with 0.
up: python build
	@if [ -t 0 ]; then set -m; fi; bin/devnet up --actor fixtures/actors/heartbeat.py $(ARGS); exit $$?

# What measures prices in processor time has the machine to itself, on each core one measure: a
# program beside it makes a cycle take longer.
MEASURED = TestNo(Program|Deploy|Value)CostsMoreTimeThanItPays

# The sources are judged beside the tests, which often wait, once go vet has compiled what both need.
test: python vet-compiled
	@failed=0; $(again) --no-print-directory -k -j 2 vet-sources test-unmeasured || failed=1; \
	$(GO) test -vet=off -timeout 30m -run '$(MEASURED)' ./internal/environment/pyhost || failed=1; exit $$failed

# By another name, so that make -n runs nothing.
again = $(MAKE)

# Tests need neither small heaps nor samples of allocations, which take a tenth of their processor time.
LEAN = GOGC=400 GOMEMLIMIT=1GiB GODEBUG=memprofilerate=0

# Three packages at a time, since those with live networks often wait; what hangs is
# named before CI gives up. It was vetted already.
test-unmeasured:
	@$(LEAN) $(GO) test -vet=off -p 3 -timeout 30m -skip '$(MEASURED)' ./...

vet: vet-compiled vet-sources

vet-compiled:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w is needed for:" $$unformatted; exit 1; fi
	$(GO) vet ./...

vet-sources:
	$(GO) tool staticcheck ./...
	@dead=$$($(GO) tool deadcode -test ./...); if [ -n "$$dead" ]; then echo "Nothing calls these: use or delete them."; echo "$$dead"; exit 1; fi
	@GO="$(GO)" scripts/vet-modules testcontainers fixtures/kubernetes
	@scripts/lint-python

race: python
	CGO_ENABLED=1 $(GO) test -race -timeout 90m ./...

# The packages whose loops share memory: minutes, where all of them take an hour and a half.
race-shared: python
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./internal/environment/roles ./internal/environment/transport/... \
		./internal/environment/clock ./internal/environment/owner ./internal/environment/store/... ./internal/faces/api/... \
		./internal/answers/... ./internal/worlds/node ./validators ./runners ./client

# Which lines the tests run, by package, in coverage.out; go tool cover -html=coverage.out shows them.
coverage: python
	$(GO) test -vet=off -p 3 -timeout 30m -coverprofile coverage.out ./...
	@$(GO) tool cover -func coverage.out | tail -n 1

# The turns of phrase to read again in the lines that this checkout adds to a commit: advice, no check.
words:
	@$(GO) test ./docs -count 1 -run WordsOfAChange -words $(or $(BASE),HEAD) | grep -v '^ok\|^PASS' || true

# Benchmarks stand beside their baseline in the same run.
bench: python
	$(GO) test -run '^$$' -bench . -benchmem ./...

# This checkout beside another commit, both built here and measured in turns, as a table of ratios:
# make bench-against REV=v0.1.0 PAIRS=5; ONLY=start measures the rows with that word. Twelve minutes for all on a quiet machine.
bench-against: python
	@test -n "$(REV)" || { echo "Which commit? make bench-against REV=HEAD~10"; exit 2; }
	python3 scripts/bench-against.py $(REV) --pairs $(or $(PAIRS),5) --only "$(ONLY)"

# The thirty programs, deploys and hostile values that take the most time for their cycles, as multiples of a plain
# loop, by the Python in use; it fails above the aim. Some ten minutes of processor time.
prices: python
	DEVNET_PRICES=all $(GO) test -count 1 -timeout 2h -run 'TestNo(Program|Deploy|Value)CostsMoreTimeThanItPays' -v ./internal/environment/pyhost

# The same against a bound that a busy machine keeps: what CI measures.
prices-bounded: python
	DEVNET_PRICES=bounded $(GO) test -count 1 -timeout 30m -run 'TestNo(Program|Deploy|Value)CostsMoreTimeThanItPays' -v ./internal/environment/pyhost

# Longer campaigns: more seeds and more kills than `make test` has time for; then
# whether the tests that SPEC.md names run the code it names; then small faults in
# the sources, one at a time, and which test caught each.
soak: python
	DEVNET_SOAK=1 $(GO) test -timeout 3h -run 'Soak|Seeds|Kill|Campaign|LongRun|Attacks' -v ./scheduler/... ./internal/worlds/... ./internal/runs/... ./internal/faces/scenario ./internal/environment/pyhost/... ./internal/checks/pythons ./cmd/...
	DEVNET_SOAK=1 $(GO) test -timeout 3h -run SoakRows -v ./docs
	DEVNET_SOAK=1 $(GO) test -timeout 12h -run Mutants -v ./internal/checks/mutate

# Runs of the scenario library compared with their committed digests; ARGS=-write renews the
# file. SEEDS=20 FILE=/tmp/before.txt compares two checkouts, of which the first has written it.
digests: python
	$(GO) run ./internal/checks/digests -seeds $(or $(SEEDS),2) $(if $(FILE),-file $(FILE)) $(ARGS)

# What others see of this checkout, compared with another commit: make unchanged BASE=COMMIT
unchanged: python
	$(GO) run ./internal/checks/unchanged -base $(or $(BASE),HEAD~1) $(ARGS)

# What accounts with each weapon of the reviews do to a live network of four validators, as
# a table, beside plain loops from the same accounts; SECONDS=15 of each, some fourteen minutes. Then
# a loop beside twenty other programs, at each block time.
siege: python
	DEVNET_SIEGE=$(or $(SECONDS),15) $(GO) test -count 1 -timeout 1h -run 'SiegeOfA(LiveNetwork|BusyMachine)' -v ./internal/worlds/box

# Each planted fault must be found by a scenario, and found again by the command
# that the failure names.
plants:
	GO="$(GO)" scripts/plants

# Generated programs on every Python of this machine: those of one minor version must agree.
pythons: python
	$(GO) run ./internal/checks/pythons -n $(or $(PROGRAMS),5000)
	$(GO) run ./internal/checks/pythons -checks $(or $(CHECKS),20000)

# Every fuzz target, five seconds each unless FUZZ_TIME says otherwise.
fuzz: python
	GO="$(GO)" scripts/fuzz

# The executors of runners against a go-ethereum node and an MCP server, which are in
# a module of their own: minutes to compile the first time, so that it is vetted here.
# Its tests mostly wait for blocks.
peers:
	@GO="$(GO)" scripts/vet-modules fixtures/peers
	cd fixtures/peers && $(GO) test -count 1 -parallel 8 -timeout 1h ./...

# What `make test` has no time for, as it runs each night; PARTS="race fuzz" runs some.
PARTS ?= race plants fuzz soak
all-checks: $(PARTS)

# Without the library's writer of manuals, whose patterns for Markdown each command would compile
# before main: devnet writes its own.
TAGS = urfave_cli_no_docs

build:
	@test -e bin/devnet || echo "Building devnet: the first time takes some minutes, and prints nothing meanwhile."
	$(GO) build -tags $(TAGS) -o bin/devnet ./cmd/devnet

python:
	@scripts/ensure-python

# cowboy_sdk with its testing, for Python environments of authors: needs no index.
wheel: python
	@scripts/make-wheel

# Archives, wheels, bills of materials and checksums of a release, in dist/release; VERSION=X and
# TARGETS=linux/amd64 for others than the tag's and all. docs/RELEASE.md says what a release is.
release: python
	@GO="$(GO)" VERSION="$(VERSION)" TARGETS="$(TARGETS)" scripts/make-release

# A release as its users meet it: equal bytes from two folders, pip, go install, the workflow of
# an actor, a start of each archive. Each compiles all of it: PARTS="wheels actor" tries some.
try-release: python
	@GO="$(GO)" TARGETS="$(TARGETS)" scripts/try-release $(if $(filter command line,$(origin PARTS)),$(PARTS))

# The image of containers: IMAGE=NAME calls it so, BASE=IMAGE puts it on another base,
# MADE=NAME calls a base that it makes so, PLATFORM=linux/arm64 is for another architecture.
image:
	@GO="$(GO)" PLATFORM="$(PLATFORM)" VERSION="$(VERSION)" IMAGE="$(IMAGE)" BASE="$(BASE)" MADE="$(MADE)" scripts/make-image

# Tests on containers of the image, which they make first: one package after the other,
# since one has the engine join a Swarm and leave it.
containers: testcontainers
	DEVNET_IMAGE=$(or $(IMAGE),cowboy-devnet) $(GO) test -count 1 -p 1 ./internal/worlds/cluster/container ./internal/runs/clustered

testcontainers: image
	cd testcontainers && DEVNET_IMAGE=$(or $(IMAGE),cowboy-devnet) $(GO) test -count 1 ./...

# The manifests of fixtures/kubernetes by the types of Kubernetes, which are in a module
# of their own: half a minute to compile the first time.
manifests:
	cd fixtures/kubernetes && $(GO) test -count 1 ./...

# A client that a generator makes of the HTTP API's description compiles, and reads a
# network's height. The generator is in a module of its own, and pinned there.
openapi: python
	@GO="$(GO)" scripts/vet-modules fixtures/openapi
	cd fixtures/openapi && $(GO) test -count 1 ./...

# Headless Chromium looks at the page of simulated networks. Its driver is in a module of
# its own. Without Chromium each test is skipped, and this says so.
browser: python
	@command -v chromium chromium-headless-shell google-chrome >/dev/null || echo "No Chromium is installed, so the page is not looked at: apt-get install chromium"
	@GO="$(GO)" scripts/vet-modules fixtures/browser
	cd fixtures/browser && $(GO) test -count 1 -timeout 30m -v ./...

# The types that the page's modules state in comments hold, by the compiler of TypeScript,
# which reads them and writes nothing.
page-types:
	@command -v tsc >/dev/null || { echo "No tsc is installed, which checks the page's types: apt-get install node-typescript"; exit 1; }
	tsc -p internal/faces/page/jsconfig.json

# What the page costs: its first beat, processor time a block with readers, memory over ten
# minutes, and long tasks on a fast network. Some twenty minutes of a machine without other work.
page-figures: python
	cd fixtures/browser && DEVNET_MEASURE=1 DEVNET_CHROMIUM=required $(GO) test -count 1 -timeout 60m -run Measure -v ./...

# A picture of each view in both sizes and themes, in PICTURES.
PICTURES ?= $(CURDIR)/bin/pictures
pictures: python
	@mkdir -p "$(PICTURES)"
	cd fixtures/browser && DEVNET_PICTURES="$(PICTURES)" DEVNET_CHROMIUM=required $(GO) test -count 1 -run 'EachView|Partition' ./...
	@echo "$(PICTURES)/index.html"
