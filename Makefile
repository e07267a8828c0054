# Every target installs what it needs first: Node.js 24 into .tools when the machine's own is older, the npm
# packages, the servers of the fleet, and a browser where there is none. Arguments for the program go into ARGS:
# make run ARGS="--port 4000"
.DEFAULT_GOAL := help
.PHONY: help hooks docs setup servers clients browser dashboard run dev fleet check test fault lint format typecheck signatures sbom bench package docker images clean

ARGS ?=
IMAGE ?= scrapifie
TAG ?= latest
# The image that the container is built on. RELEASE=1 refuses one without a digest.
NODE_IMAGE ?= node:24-slim
RELEASE ?=
# A moment such as 20261101T000000Z: the image gets the Debian packages of then.
DEBIAN_SNAPSHOT ?=
PLATFORMS ?= linux/amd64,linux/arm64
# What the nemesis of `make fault` is given; see test/fault/nemesis/run.ts.
NEMESIS ?= --pages 20000 --hosts 200 --faults 60 --least-kinds 25
NODE = sh scripts/with-node.sh
IMAGE_ARGS = --build-arg NODE_IMAGE=$(NODE_IMAGE) --build-arg DEBIAN_SNAPSHOT=$(DEBIAN_SNAPSHOT)
QUIETLY = QUIET=1 $(NODE)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

setup: ## Install what is missing; the other targets do so by themselves
	@sh scripts/setup.sh

hooks: ## Have git look at style and types before each commit
	@git config core.hooksPath scripts/hooks

servers: ## Install PostgreSQL, Redis and Ceph when they are missing; what needs them does so by itself
	@sh scripts/servers.sh

browser: setup ## Install Chromium when there is no browser; what needs one does so by itself
	@sh scripts/browser.sh --install

dashboard: setup ## Build the dashboard when it is missing or older than its sources
	@sh scripts/dashboard.sh

run: setup ## Start the server on http://127.0.0.1:3000
	@sh scripts/browser.sh
	@sh scripts/dashboard.sh --or-without
	@sh scripts/program.sh
	@./scrapifie serve $(ARGS)

dev: setup ## Start the server and restart it whenever a source changes
	@sh scripts/dashboard.sh --or-without
	@$(NODE) node --watch --disable-warning=ExperimentalWarning src/main.ts serve $(ARGS)

fleet: setup servers browser ## Start a fleet on this machine: servers, APIs, workers, a proxy before them
	@sh scripts/dashboard.sh --or-without
	@$(NODE) node --disable-warning=ExperimentalWarning fleet/main.ts $(ARGS)

clients: servers
	@sh scripts/servers.sh clients
	@! command -v apt-get >/dev/null || sh scripts/helm-engine.sh >/dev/null

check: setup lint typecheck ## Check style and types, and run the tests that need neither servers nor a browser nor long
	@$(NODE) vitest run --project embedded src test/architecture $(ARGS)

ifdef FILE
test: setup ## Check style and types, then run every test; with FILE=PATH that file alone, with what it needs
	@$(NODE) node --disable-warning=ExperimentalWarning test/run-one-file.ts '$(FILE)' $(ARGS)
else
test: servers clients browser dashboard lint typecheck signatures
	@sh scripts/program.sh
	@sh scripts/setup.sh test/openapi test/firecrawl test/firecrawl/langchain test/mcp test/deploy/helm test/project
	@$(NODE) node --disable-warning=ExperimentalWarning test/run-tests.ts $(ARGS)
endif

fault: setup servers browser ## Kill a crawl, browsers at work, and every part of a fleet, again and again; feed on broken pages
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/kill-run.ts --pages 3000 --kills 30 $(ARGS)
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/power-cut-run.ts --pages 3000 --cuts 20
	@TEST_ALL_DEATHS=1 $(NODE) vitest run --project embedded-programs test/fault/deaths.test.ts
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/webhook-kill-run.ts --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/webhook-kill-run.ts --profile fleet --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/events-run.ts --pages 3000 --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/warc-kill-run.ts --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/snapshot-kill-run.ts --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/large-diff-run.ts --pages 100000
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/lake-kill-run.ts --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/export-kill-run.ts --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/export-kill-run.ts --profile fleet --kills 20
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/schedule-year-run.ts
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/monitor-week-run.ts --pages 50
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/retention-run.ts --pages 100000
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/extract-fuzz-run.ts --inputs 100000
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/main-thread-run.ts --calls 3000 --requests 3000
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/hostile-clients-run.ts --connections 1000
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/api-fuzz-run.ts --requests 100000 --minutes 10
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/render-soak-run.ts --pages 1000
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/attack-run.ts --minutes 60 --pages 400
	@$(NODE) node --disable-warning=ExperimentalWarning test/fault/nemesis/main.ts $(NEMESIS)

lint: setup ## Check style, and that nothing is unused
	@$(QUIETLY) biome check .
	@$(QUIETLY) knip
	@$(QUIETLY) knip --production --workspace . --include files,dependencies,unlisted

docs: setup ## Bring up to date what is generated: tables of the docs, lists of the dashboard, types of the clients
	@$(NODE) node --disable-warning=ExperimentalWarning scripts/write-docs.ts
	@$(NODE) node --disable-warning=ExperimentalWarning scripts/write-client-types.ts

format: setup ## Put the sources into shape
	@$(NODE) biome check --write .

typecheck: setup ## Check the types
	@sh scripts/setup.sh dashboard
	@$(QUIETLY) tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/types.tsbuildinfo
	@$(QUIETLY) npm --prefix dashboard run typecheck

signatures: setup ## Check the registry's signatures of the packages, where it offers them
	@$(NODE) node --disable-warning=ExperimentalWarning scripts/check-signatures.ts

sbom: setup ## Write what the program is made of, as CycloneDX, to dist/sbom.cdx.json
	@mkdir -p dist
	@$(NODE) npm sbom --package-lock-only --sbom-format cyclonedx --sbom-type application >dist/sbom.cdx.json

bench: servers browser ## Measure, side by side with other crawlers; results go to bench/results
	@sh scripts/setup.sh bench
	@$(NODE) node --disable-warning=ExperimentalWarning bench/main.ts $(ARGS)

package: setup ## Build the program and make the npm package of it, in this folder
	@$(NODE) node --disable-warning=ExperimentalWarning scripts/pack.ts

docker: ## Build the container images, with a browser and slim; IMAGE and TAG name them
	@[ -z '$(RELEASE)' ] || $(NODE) node --disable-warning=ExperimentalWarning scripts/check-release.ts '$(NODE_IMAGE)'
	@command -v docker >/dev/null 2>&1 || { echo 'make docker: there is no docker command; see https://docs.docker.com/get-docker/' >&2; exit 1; }
	@docker info >/dev/null 2>&1 || { echo 'make docker: no docker engine answers. Start it (systemctl start docker, or Docker Desktop) and try again.' >&2; exit 1; }
	@docker build $(IMAGE_ARGS) --target browser --tag $(IMAGE):$(TAG) .
	@docker build $(IMAGE_ARGS) --target slim --tag $(IMAGE):$(TAG)-slim .

images: ## Write both images for all platforms, with SBOM and provenance, to dist/images as OCI archives
	@[ -z '$(RELEASE)' ] || $(NODE) node --disable-warning=ExperimentalWarning scripts/check-release.ts '$(NODE_IMAGE)'
	@docker buildx version >/dev/null 2>&1 || { echo 'make images: docker has no buildx; see https://docs.docker.com/build/' >&2; exit 1; }
	@mkdir -p dist/images
	@for target in browser slim; do \
	  SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) docker buildx build $(IMAGE_ARGS) --platform $(PLATFORMS) \
	    --target $$target --sbom=true --provenance=mode=max \
	    --output type=oci,dest=dist/images/scrapifie-$$target.tar,rewrite-timestamp=true . || exit 1; \
	done

clean: ## Remove what can be installed or built again; data stays
	@rm -rf node_modules bench/node_modules test/openapi/node_modules test/firecrawl/node_modules test/firecrawl/langchain/node_modules test/mcp/node_modules test/deploy/helm/node_modules test/project/node_modules dashboard/node_modules dashboard/dist dist coverage .tools
