#!/bin/sh
# Installs the servers that the fleet and its tests run on, when they are missing: PostgreSQL, Redis, and Ceph for
# S3. None of them is started here, and none is left running: the tests start their own, on free ports. Does
# nothing, quickly, when all is there.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

log=$root/.tools/servers.log
policy=/usr/sbin/policy-rc.d
apt_wait_seconds=900
# `servers.sh clients` installs what the tests of the clients in Python and Go need as well.
with_clients=no
[ "${1:-}" != clients ] || with_clients=yes

# Debian keeps servers in folders that are not on everybody's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH

fail() {
  say "$1"
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 5
}

has() {
  for program in "$@"; do command -v "$program" >/dev/null 2>&1 || return 1; done
}

# Something else may be called postgres, and some systems still ship a version that is too old.
is_postgres() {
  [ -x "$1/postgres" ] && [ -x "$1/initdb" ] || return 1
  case $("$1/postgres" --version 2>/dev/null) in
    *PostgreSQL\)\ 1[5-9]* | *PostgreSQL\)\ [2-9][0-9]*) return 0 ;;
    *) return 1 ;;
  esac
}

has_postgres() {
  for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin \
    /usr/local/opt/postgresql*/bin; do
    is_postgres "$folder" && return 0
  done
  has postgres && is_postgres "$(dirname "$(command -v postgres)")"
}

has_s3() { has ceph-mon ceph-osd radosgw radosgw-admin ceph ceph-authtool monmaptool || has minio; }

has_httpx() { /usr/bin/python3 -c 'import httpx' 2>/dev/null || python3 -c 'import httpx' 2>/dev/null; }

missing_packages() {
  missing=
  has redis-server || missing="$missing redis-server"
  has_postgres || missing="$missing postgresql"
  has_s3 || missing="$missing ceph-mon ceph-osd radosgw ceph-common"
  [ "$with_clients" = no ] || has go || missing="$missing golang-go"
  [ "$with_clients" = no ] || has_httpx || missing="$missing python3-httpx"
  missing=${missing# }
}

say_what_to_install() {
  case $(uname -s) in
    Darwin) fail "these servers are missing: $missing" \
      'Install them: brew install redis postgresql@17 minio' ;;
    *) fail "these servers are missing: $missing" \
      'Install them with the package manager of this system (PostgreSQL 15 or newer; for S3 either Ceph with its' \
      'gateway radosgw, or minio), so that they are on PATH.' "${1:-}" ;;
  esac
}

# Packages start what they bring unless this file forbids it. One that is there already is somebody else's.
forbid_starting() {
  [ -e "$policy" ] && return 0
  trap '$as_root rm -f "$policy"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
  $as_root chmod 755 "$policy"
}

apt() {
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o "DPkg::Lock::Timeout=$apt_wait_seconds" "$@" \
    >>"$log" 2>&1 </dev/null
}

install_packages() {
  # shellcheck disable=SC2086
  apt install --no-install-recommends $missing && return 0
  # The lists of packages are missing or old.
  # shellcheck disable=SC2086
  apt update && apt install --no-install-recommends $missing
}

missing_packages
[ -n "$missing" ] || exit 0

has apt-get || say_what_to_install
if [ "$(id -u)" = 0 ]; then
  as_root=
elif has sudo && sudo -n true 2>/dev/null; then
  as_root='sudo -n'
else
  fail "these servers are missing: $missing" \
    "Install them as root: apt-get install --no-install-recommends $missing"
fi

mkdir -p "$root/.tools"
: >"$log"
wanted=$missing
say "installing $wanted (once)"
forbid_starting
if ! install_packages; then
  grep -E '^(E|Err|W):' "$log" | tail -n 6 | sed 's/^/  | /' >&2 || :
  fail "cannot install $wanted." "All that apt-get said is in $log"
fi
missing_packages
[ -z "$missing" ] || say_what_to_install "What this system's packages bring is not enough: $missing"
