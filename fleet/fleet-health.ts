import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Fleet } from './fleet.ts';
import type { HealthRow } from './health-table.ts';

const run = promisify(execFile);
const PS_MS = 5_000;

/** How servers and processes are at this moment. */
export async function fleetHealth({ servers, processes, origin }: Fleet): Promise<HealthRow[]> {
  const server = (name: string, { pid, url }: { pid: number; url: string }) => ({
    ...{ name, pid, port: portOf(url), restarts: 0 },
    state: pid === 0 ? ('down' as const) : ('up' as const),
  });
  const rows = [
    server('postgres', servers.postgres),
    server('redis', servers.redis),
    server('s3', servers.s3),
    ...processes.map(({ name, pid, origin, state, restarts }) => ({
      ...{ name, pid, state, restarts },
      port: origin === null ? null : portOf(origin),
    })),
    server('proxy', { pid: process.pid, url: origin }),
  ];
  const memory = await residentBytes(rows.map(({ pid }) => pid).filter((pid) => pid !== 0));
  return rows.map((row) => ({ ...row, rssBytes: memory.get(row.pid) ?? null }));
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** Memory by process id. A process that has ended meanwhile is left out. */
async function residentBytes(pids: readonly number[]): Promise<Map<number, number>> {
  const args = ['-o', 'pid=,rss=', '-p', pids.join(',')];
  // `ps` fails when one of the processes has ended, and still prints the others.
  const { stdout } = await run('ps', args, { timeout: PS_MS }).catch((error: { stdout?: string }) => error);
  const lines = (stdout ?? '').split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return new Map(lines.flatMap(([pid, kib]) => (pid && kib ? [[pid, kib * 1_024] as const] : [])));
}
