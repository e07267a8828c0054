#!/bin/sh
# make-secrets.sh [FOLDER]: makes the secrets of compose.fleet.yaml and of the Swarm stack, one file each, in FOLDER or in
# `secrets` beside this script. Files that are there already stay as they are, so starting it again changes nothing.
set -eu

folder=${1:-$(cd "$(dirname "$0")" && pwd -P)/secrets}
umask 077
mkdir -p "$folder"

random() { od -An -tx1 -N "$1" /dev/urandom | tr -d ' \n'; }

# put NAME VALUE: containers read these files as users of their own, so the files are readable; the folder is not.
put() {
  [ ! -s "$folder/$1" ] || return 0
  printf '%s\n' "$2" >"$folder/$1.new"
  chmod 444 "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

put api-key "sk_$(random 24)"
put metrics-key "mk_$(random 24)"
put vault-key "$(random 32)"
put postgres-password "$(random 24)"
put redis-password "$(random 24)"
put minio-password "$(random 24)"
put grafana-password "$(random 12)"
put database-url "postgres://scrapifie:$(cat "$folder/postgres-password")@postgres:5432/scrapifie"
put redis-url "redis://:$(cat "$folder/redis-password")@redis:6379/0"
put s3-url "http://scrapifie:$(cat "$folder/minio-password")@minio:9000/scrapifie?region=us-east-1"
