#!/bin/sh
# Looks for a Chromium, Chrome or Edge. With --install one is installed where there is none; without, one line says
# how to get one. Does nothing, quickly, when there is one.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

# The usual names and places; `scrapifie doctor` knows more, and is asked when none of these is there.
has_browser() {
  [ -z "${SCRAPIFIE_BROWSER_PATH:-}" ] || return 0
  for name in chromium chromium-browser google-chrome google-chrome-stable microsoft-edge brave-browser \
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' \
    '/Applications/Chromium.app/Contents/MacOS/Chromium'; do
    command -v "$name" >/dev/null 2>&1 && return 0
  done
  "$root/scrapifie" doctor --port 0 --json 2>/dev/null |
    tr -d ' \n' | grep -q '"check":"browser","state":"ok"'
}

has_browser && exit 0
if [ "${1:-}" = --install ]; then
  "$root/scrapifie" doctor --install --port 0 >/dev/null || has_browser
else
  say 'there is no Chromium, Chrome or Edge: pages are fetched without rendering them. To get one: ./scrapifie doctor --install'
fi
