#!/bin/sh
# container.sh COMMAND…: runs COMMAND as a container engine would. Start it by `unshare --mount --pid --fork`: what it mounts is
# gone with its namespace. The folders of the system are this machine's, read-only. Left out are seccomp and cgroups of an
# engine, and a network of its own.
#   CONTAINER_ROOT     an empty folder, which becomes the root
#   CONTAINER_NODE     the Node.js that becomes /usr/local/bin/node
#   CONTAINER_BINDS    `from:to`, separated by spaces; `from:to:rw` may be written
#   CONTAINER_USER     `uid:gid` of COMMAND, which has no capabilities then, nor a way to get any, and a read-only root
#   CONTAINER_WORKDIR  where COMMAND begins
set -eu

root=$CONTAINER_ROOT

# bind FROM TO [rw]
bind() {
  if [ -e "$root$2" ]; then :
  elif [ -d "$1" ]; then mkdir -p "$root$2"
  else mkdir -p "$(dirname "$root$2")" && : >"$root$2"; fi
  mount --bind "$1" "$root$2"
  [ "${3:-ro}" = rw ] || mount -o remount,bind,ro "$root$2"
}

mount -t tmpfs -o size=512m,mode=755 tmpfs "$root"
for folder in usr etc; do bind "/$folder" "/$folder"; done
for folder in bin sbin lib lib64; do
  if [ -L "/$folder" ]; then ln -s "$(readlink "/$folder")" "$root/$folder"
  elif [ -d "/$folder" ]; then bind "/$folder" "/$folder"; fi
done
mkdir -p "$root/proc" "$root/dev/shm" "$root/tmp" "$root/run" "$root/root"
mount -t proc proc "$root/proc"
bind /sys /sys
[ ! -d /var/cache/fontconfig ] || bind /var/cache/fontconfig /var/cache/fontconfig
for device in null zero full random urandom tty; do bind "/dev/$device" "/dev/$device" rw; done
ln -s /proc/self/fd "$root/dev/fd"
# As Docker mounts them.
mount -t tmpfs -o size=64m,mode=1777,nosuid,nodev,noexec tmpfs "$root/dev/shm"
mount -t tmpfs -o size=1g,mode=1777,nosuid,nodev,noexec tmpfs "$root/tmp"
# Of this machine's /usr/local an image knows nothing.
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/usr/local"
bind "$CONTAINER_NODE" /usr/local/bin/node
mount -o remount,ro "$root/usr/local"
for pair in $CONTAINER_BINDS; do
  from=${pair%%:*}
  to=${pair#*:}
  case $to in
    *:rw) bind "$from" "${to%:rw}" rw ;;
    *) bind "$from" "$to" ;;
  esac
done

workdir=$CONTAINER_WORKDIR
set -- env --chdir="$workdir" "$@"
if [ -n "$CONTAINER_USER" ]; then
  mount -o remount,ro "$root"
  set -- setpriv --reuid="${CONTAINER_USER%:*}" --regid="${CONTAINER_USER#*:}" --clear-groups --bounding-set=-all \
    --inh-caps=-all --no-new-privs -- "$@"
fi
unset CONTAINER_ROOT CONTAINER_NODE CONTAINER_BINDS CONTAINER_USER CONTAINER_WORKDIR
# As container engines do it. Behind `chroot` the kernel lets no process make a user namespace.
cd "$root"
pivot_root . .
umount -l .
cd /
exec "$@"
