#!/bin/sh
# Installs the servers that the fleet and its tests run on, when they are missing: PostgreSQL, PgBouncer, Redis, and Ceph for
# S3. None of them is started here, and none is left running: the tests start their own, on free ports. Does
# nothing, quickly, when all is there. promtool of Prometheus, which checks its rules, is put into .tools alone.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/scripts/node.sh"

log=$root/.tools/servers.log
policy=/usr/sbin/policy-rc.d
apt_wait_seconds=900
# Where there is no package of the system for the client in Python, as on macOS, what it needs is installed here.
python=$root/.tools/python
httpx_version=0.28.1
# `servers.sh clients` installs what the tests of the clients in Python and Go, of the container image, and of the Helm chart,
# which Go libraries render, need as well.
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

has_httpx() {
  for program in /usr/bin/python3 "$python/bin/python3" python3; do
    "$program" -c 'import httpx' 2>/dev/null && return 0
  done
  return 1
}

has_helm_libraries() { [ -d /usr/share/gocode/src/github.com/Masterminds/sprig ] && [ -d /usr/share/gocode/src/sigs.k8s.io/yaml ]; }

missing_packages() {
  missing=
  has redis-server || missing="$missing redis-server"
  has_postgres || missing="$missing postgresql"
  has_s3 || missing="$missing ceph-mon ceph-osd radosgw ceph-common"
  has pgbouncer || missing="$missing pgbouncer"
  [ "$with_clients" = no ] || has go || missing="$missing golang-go"
  # The first process of the image; only Linux runs its test.
  [ "$with_clients" = no ] || [ "$(uname -s)" != Linux ] || has tini || missing="$missing tini"
  [ "$with_clients" = no ] || has_httpx || missing="$missing python3-httpx"
  # Only Debian has these libraries as packages; elsewhere the tests of the chart are left out.
  [ "$with_clients" = no ] || ! has apt-get || has_helm_libraries ||
    missing="$missing golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev"
  missing=${missing# }
}

say_what_to_install() {
  fail "these servers are missing: $missing" \
    'Install them with the package manager of this system (PostgreSQL 15 or newer; for S3 either Ceph with its' \
    'gateway radosgw, or minio), so that they are on PATH.' "${1:-}"
}

# What Homebrew calls a package of Debian. It has no Ceph; MinIO takes its place.
brew_name() {
  case $1 in
    redis-server) echo redis ;;
    postgresql) echo postgresql@17 ;;
    ceph-mon) echo minio ;;
    ceph-osd | radosgw | ceph-common) ;;
    golang-go) echo go ;;
    *) echo "$1" ;;
  esac
}

install_by_brew() {
  mkdir -p "$root/.tools"
  : >"$log"
  formulas=
  needs_httpx=no
  for package in $missing; do
    formula=$(brew_name "$package")
    if [ "$package" = python3-httpx ]; then needs_httpx=yes; else formulas="$formulas${formula:+ $formula}"; fi
  done
  say "installing $missing with Homebrew (once)"
  # shellcheck disable=SC2086
  [ -z "$formulas" ] || HOMEBREW_NO_AUTO_UPDATE=1 brew install --quiet $formulas >>"$log" 2>&1 </dev/null ||
    fail "cannot install$formulas." "All that Homebrew said is in $log"
  [ "$needs_httpx" = no ] || { python3 -m venv "$python" && "$python/bin/pip" install --quiet "httpx==$httpx_version"; } \
    >>"$log" 2>&1 || fail 'cannot install httpx for Python.' "All that pip said is in $log"
  missing_packages
  [ -z "$missing" ] || say_what_to_install "What Homebrew brings is not enough: $missing"
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

# Prometheus itself and the many packages that Debian's depends on are not needed. Without promtool the tests go on and
# say what they did not check.
get_promtool() {
  ! has promtool && [ ! -x "$root/.tools/bin/promtool" ] || return 0
  if ! has apt-get dpkg-deb tar; then
    say 'promtool is missing: the rules of Prometheus are checked without it. It comes with Prometheus (brew install prometheus).'
    return 0
  fi
  say 'getting promtool (once)'
  mkdir -p "$root/.tools/bin" "$root/.tools/promtool"
  if (cd "$root/.tools/promtool" && { apt-get -q download prometheus ||
    { [ "$(id -u)" = 0 ] && apt-get -q update && apt-get -q download prometheus; }; }) >"$log" 2>&1 &&
    dpkg-deb --fsys-tarfile "$root"/.tools/promtool/prometheus_*.deb | tar -x -O ./usr/bin/promtool >"$root/.tools/bin/promtool.part"; then
    chmod 755 "$root/.tools/bin/promtool.part"
    mv "$root/.tools/bin/promtool.part" "$root/.tools/bin/promtool"
  else
    say "promtool could not be had: the rules of Prometheus are checked without it. What apt-get said is in $log"
  fi
  rm -rf "$root/.tools/promtool"
}

missing_packages
if [ -z "$missing" ]; then
  get_promtool
  exit 0
fi

if ! has apt-get; then
  has brew || say_what_to_install
  install_by_brew
  exit 0
fi
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
get_promtool
