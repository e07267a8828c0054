#!/bin/sh
# with-node.sh COMMAND…: installs what is missing, then runs COMMAND on the right Node.js with the project's
# tools on PATH. QUIET=1 keeps the output back unless the command fails.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

sh "$root/scripts/setup.sh"
find_node
PATH=$root/node_modules/.bin:$PATH
export PATH

[ "${QUIET:-}" = 1 ] || exec "$@"

output=$("$@" 2>&1) || {
  status=$?
  printf '%s\n' "$output" >&2
  exit "$status"
}
