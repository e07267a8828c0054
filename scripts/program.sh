#!/bin/sh
# Bundles the program into .program when that is missing or older than its sources; ./scrapifie starts it from there in half
# the time. Does nothing, quickly, when it is current. A failure is told and is none: the sources run as they are.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

program_current "$root" && exit 0
[ -d "$root/node_modules/rolldown" ] || exit 0
built=$(mktemp "${TMPDIR:-/tmp}/scrapifie-built.XXXXXX")
trap 'rm -f "$built"' EXIT
# Sources that change while they are bundled are newer than the file of before.
if find_node && "$node" --disable-warning=ExperimentalWarning "$root/scripts/bundle.ts" "$root/.program" >&2; then
  cp -p "$built" "$root/.program/built"
else
  say 'the program could not be bundled (see above); it starts from its sources, which takes longer.'
fi
