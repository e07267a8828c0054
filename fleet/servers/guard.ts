import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Ends what this process has started when this process ends in a way that leaves it no time to do so itself, such
 * as kill -9: a shell that reads from a pipe whose other end closes with us. It knows the process groups that are
 * alive and how each wants to be told; whatever has not gone two seconds later is killed.
 */
const WATCH = `
groups=
while read -r change group signal; do
  case $change in
    +) groups="$groups $group:$signal" ;;
    -) kept=
       for one in $groups; do [ "\${one%:*}" = "$group" ] || kept="$kept $one"; done
       groups=$kept ;;
  esac
done
[ -n "$groups" ] || exit 0
for one in $groups; do
  kill -s CONT -- "-\${one%:*}"
  kill -s "\${one#*:}" -- "-\${one%:*}"
done
sleep 2
for one in $groups; do kill -s KILL -- "-\${one%:*}"; done
`;

let guard: ChildProcess | null = null;

/** Puts a child that leads a process group of its own under guard until it exits. */
export function guardGroup(child: ChildProcess, signal: 'KILL' | 'QUIT' | 'TERM'): void {
  const { pid } = child;
  if (pid === undefined) return;
  const { stdin } = ensureGuard();
  stdin?.write(`+ ${pid} ${signal}\n`);
  // The system may soon give the number of an ended process to another one.
  void once(child, 'exit').then(() => stdin?.write(`- ${pid}\n`));
}

function ensureGuard(): ChildProcess {
  if (guard !== null) return guard;
  // Detached: Ctrl-C reaches the whole group of a terminal, and the guard must outlive us.
  const child = spawn('/bin/sh', ['-c', WATCH], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin?.on('error', () => {});
  child.once('exit', () => {
    if (guard === child) guard = null;
  });
  // The guard must not keep this process alive.
  child.unref();
  (child.stdin as { unref?: () => void } | null)?.unref?.();
  guard = child;
  return child;
}
