import { execFile } from 'node:child_process';
import { appendFile, chown, cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A base backup of a cluster, taken while it runs. */
export interface BaseCopy {
  readonly dir: string;
}

/**
 * How a cluster is put back to an earlier time. `restored`: the copy takes the place of the data and the server goes on
 * in the same timeline, as with a snapshot of its disk. `promoted`: in a new timeline, as after a recovery to a point in
 * time, or when a replica takes over that had not received what came later.
 */
export type ComingBack = 'restored' | 'promoted';

export interface CopyPlace {
  readonly pgBasebackup: string;
  readonly adminUrl: string;
  /** Becomes the folder of the copy. */
  readonly dir: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

const run = promisify(execFile);
const COPY_MS = 120_000;

export async function takeBaseCopy({ pgBasebackup, adminUrl, dir, user }: CopyPlace): Promise<BaseCopy> {
  const { hostname, port, username, password } = new URL(adminUrl);
  await run(
    pgBasebackup,
    ['-D', dir, '-h', hostname, '-p', port, '-U', username, '-X', 'stream', '-c', 'fast', '--no-sync'],
    {
      timeout: COPY_MS,
      cwd: '/',
      env: { ...environment(), PGPASSWORD: password },
      ...(user ?? {}),
    },
  );
  return { dir };
}

/** Puts the copy in the place of the data of a cluster that is down. The copy stays and can be used again. */
export async function putCopy(
  copy: BaseCopy,
  data: string,
  how: ComingBack,
  user: CopyPlace['user'],
): Promise<void> {
  for (const name of await readdir(data)) await rm(join(data, name), { recursive: true, force: true });
  for (const name of await readdir(copy.dir)) {
    await cp(join(copy.dir, name), join(data, name), { recursive: true, preserveTimestamps: true });
  }
  if (how === 'promoted') {
    // All that there is of the log came with the copy.
    await appendFile(join(data, 'postgresql.auto.conf'), `restore_command = 'false'\n`);
    await writeFile(join(data, 'recovery.signal'), '');
  }
  if (user === null) return;
  for (const entry of await readdir(data, { recursive: true }))
    await chown(join(data, entry), user.uid, user.gid);
}

/** What the programs of PostgreSQL need to be found and nothing that would send them elsewhere. */
function environment(): Record<string, string> {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
}
