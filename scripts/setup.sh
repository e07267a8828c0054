#!/bin/sh
# Installs what is missing: Node.js into .tools when the machine's own is too old, then the npm packages.
# Further arguments name folders with packages of their own, such as bench. Does nothing, quickly, when all is
# there. Safe to start twice at once: the second waits for the first.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

tools=$root/.tools
lock=$tools/installing
log=$tools/install.log
lock_wait_seconds=900

all_current() {
  find_node || return 1
  for folder in "$root" "$@"; do
    packages_current "$folder" || return 1
  done
}

fail() {
  say "$1"
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 5
}

# attempt WHAT COMMAND…: runs an npm command with its output in the log, which is shown only when it fails.
attempt() {
  what=$1
  shift
  if "$@" >"$log" 2>&1; then return 0; fi
  say "cannot install $what. What npm said:"
  grep -E '^npm (error|ERR!)' "$log" | head -n 6 | sed 's/^/  | /' >&2 || :
  if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|E50[0-9]' "$log"; then
    fail 'the npm registry cannot be reached.' \
      'Check the network; behind a proxy set https_proxy, or name a registry: npm config set registry URL'
  fi
  if grep -qE 'ENOSPC|EACCES|EROFS' "$log"; then
    fail "npm cannot write to $root." 'Make room there, or give yourself the right to write, and start again.'
  fi
  if grep -q 'EINTEGRITY' "$log"; then
    fail 'what the registry sent is not what this project was tested with; nothing of it was installed.' \
      "All that npm said is in $log"
  fi
  fail "all that npm said is in $log"
}

# Another user's process may not be signalled, so look at /proc too where there is one.
is_alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }

take_lock() {
  mkdir -p "$tools" || fail "cannot write to $root."
  waited=0
  until mkdir "$lock" 2>/dev/null; do
    [ -d "$lock" ] || fail "cannot create $lock."
    holder=$(cat "$lock/pid" 2>/dev/null || :)
    if [ -n "$holder" ] && ! is_alive "$holder"; then
      # It died. Renaming is atomic: of several that wait, one takes the dead lock away, the others try again.
      mv "$lock" "$lock.$$" 2>/dev/null && rm -rf "$lock.$$"
      continue
    fi
    [ "$waited" -gt 0 ] || say 'another process is installing; waiting for it.'
    [ "$waited" -lt "$lock_wait_seconds" ] ||
      fail "another process has been installing for too long." "If none is, remove $lock and start again."
    sleep 1
    waited=$((waited + 1))
  done
  trap 'rm -rf "$lock"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  echo $$ >"$lock/pid"
}

need_npm() {
  command -v npm >/dev/null 2>&1 && return 0
  fail 'npm was not found, and it is needed to install the packages.' \
    "Install Node.js $node_major or newer, which brings npm along: https://nodejs.org/en/download" \
    '(on Debian and Ubuntu any version will do for a start: apt-get install nodejs npm)'
}

# The packages used here are the official binaries, one per platform, without install scripts. Version and integrity are
# in node.sh; npm gets them as a lock file and refuses anything else.
install_node() {
  need_npm
  node_package || fail "Scrapifie needs Node.js $node_major or newer, and no verified package for this platform is known." \
    'Install it from https://nodejs.org/en/download'
  say "installing Node.js $version into .tools (once)"
  printf '{"private":true,"dependencies":{"%s":"%s"}}\n' "$package" "$version" >"$tools/package.json"
  printf '{"lockfileVersion":3,"packages":{"":{"dependencies":{"%s":"%s"}},"node_modules/%s":{"version":"%s","integrity":"%s","bin":{"node":"bin/node"}}}}\n' \
    "$package" "$version" "$package" "$version" "$integrity" >"$tools/package-lock.json"
  attempt "Node.js $version" npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund
  find_node || fail "Node.js $node_major from npm does not run on this machine." \
    "Install Node.js $node_major or newer so that it is on PATH: https://nodejs.org/en/download"
}

install_packages() {
  need_npm
  say "installing packages${2:+ for $2} (once)"
  attempt 'the packages' npm ci --prefix "$1" --include=dev --ignore-scripts --no-audit --no-fund
}

for folder in "$@"; do
  shift
  set -- "$@" "$root/$folder"
done

all_current "$@" && exit 0
take_lock
find_node || install_node
packages_current "$root" || install_packages "$root" ''
for folder in "$@"; do
  packages_current "$folder" || install_packages "$folder" "${folder#"$root"/}"
done
