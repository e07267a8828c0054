import { sep } from 'node:path';

/**
 * Covers each place that is named before `--`: a folder by an empty one, a file by one without content. Then runs the command
 * behind it without any capability, and without a way to get one.
 */
const COVER = `set -eu
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k,mode=555 tmpfs "$1"
  else mount --bind /dev/null "$1"; fi
  shift
done
shift
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs -- "$@"`;

/**
 * What stands before a command that is to run with the same user in a user namespace and a mount namespace of its own.
 * Processes in there see none of the places, and cannot uncover them: the mounts of a namespace are locked for those made
 * below it. They cannot read memory or environment of processes outside either, because the kernel asks for rights in the
 * user namespace of the process that is read. The process keeps its id and what it has open.
 */
export const namespacePrefix = (places: readonly string[]): readonly string[] => [
  ...['unshare', '--user', '--map-current-user', '--keep-caps', '--mount', '--'],
  ...['sh', '-c', COVER, 'sh', ...places, '--'],
];

/** The places that can be covered, and those that hold something that the command needs. */
export function dividePlaces(
  places: readonly string[],
  needed: readonly string[],
): { readonly covered: readonly string[]; readonly needed: readonly string[] } {
  const isNeeded = (place: string) =>
    needed.some((path) => path === place || path.startsWith(place.endsWith(sep) ? place : `${place}${sep}`));
  return { covered: places.filter((place) => !isNeeded(place)), needed: places.filter(isNeeded) };
}
