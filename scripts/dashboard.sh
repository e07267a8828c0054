#!/bin/sh
# Builds the dashboard into dashboard/dist when it is missing or older than its sources. Does nothing, quickly, when it is
# there. With --or-without a build that fails is told and is no failure: the server works without its dashboard.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"
app=$root/dashboard

# The first source that is newer than the build.
newer_source() {
  find "$app/src" "$app/public" "$app/index.html" "$app/package-lock.json" "$app/vite.config.ts" \
    -newer "$app/dist/index.html" -print 2>/dev/null | head -n 1
}

is_current() { [ -f "$app/dist/index.html" ] && [ -z "$(newer_source)" ]; }

build() {
  sh "$root/scripts/setup.sh" dashboard || return 1
  say 'building the dashboard'
  # Whatever the environment says: with another value React is built with its checks for developers, twice as large.
  NODE_ENV=production QUIET=1 sh "$root/scripts/with-node.sh" npm --prefix "$app" run build
}

# Without its sources there is nothing to build.
[ -f "$app/package.json" ] || exit 0
is_current && exit 0
build && exit 0
[ "${1:-}" = --or-without ] || exit 1
say 'the dashboard could not be built (see above); the server starts without it. To try again: make dashboard'
