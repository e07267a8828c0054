#!/bin/sh
# Prints the path of the program that renders the Helm chart in tests, and builds it first when its sources have changed. It is
# made of Debian's Go libraries (scripts/servers.sh clients installs them), so it needs no network.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

sources=$root/test/deploy/helm/engine
libraries=/usr/share/gocode
program=$root/.tools/helm-engine-$(cat "$sources"/*.go | cksum | cut -d ' ' -f 1)

if [ ! -x "$program" ]; then
  say 'building the program that renders the Helm chart (once)'
  build=$program.$$
  trap 'rm -rf "$build"' EXIT
  # Import paths that end with a version are resolved for code with a go.mod within GOPATH only.
  mkdir -p "$build/src/engine"
  cp "$sources"/*.go "$build/src/engine"
  printf 'module engine\n' >"$build/src/engine/go.mod"
  cd "$build/src/engine"
  GO111MODULE=off GOPATH=$build:$libraries GOFLAGS='' GOCACHE=$build/cache CGO_ENABLED=0 go build -o "$build/program" .
  mv "$build/program" "$program"
fi
printf '%s\n' "$program"
