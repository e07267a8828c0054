import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { unzipSync } from 'fflate';
import type { ExportView } from '../../src/capabilities/views/export-view.ts';
import { PAGE_FORMATS, PAGE_TYPE, TABLE_FORMATS } from '../../src/core/model/export-registry.ts';
import { checkedRecords } from '../archives/warc-check.ts';
import { randomFrom } from '../site/random.ts';
import { startSite } from '../site/site.ts';
import {
  callKilled,
  KILL_KEY,
  type KilledProcesses,
  type KillProfile,
  startKilled,
} from './killed-processes.ts';

export interface ExportKillOptions {
  readonly profile: KillProfile;
  readonly kills: number;
  readonly exportsPerLife: number;
  /** Left out: all that are tried. */
  readonly specs?: readonly ExportKillSpec[];
  /** Number of pages of the job that is exported. */
  readonly pages: number;
  /** Decides what is exported, what is killed, and when. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface ExportKillReport {
  readonly kills: number;
  readonly ready: number;
  readonly failed: number;
  /**
   * Number of ready exports that were begun more than once because the process was killed; null in a fleet, whose
   * files have no folder.
   */
  readonly begunAgain: number | null;
  /** Exports whose file was served before all of them had ended. */
  readonly downloads: number;
  readonly problems: readonly string[];
}

export type ExportKillSpec = Pick<ExportView, 'type' | 'format'>;

const KILLED_TYPES = ['full', 'links', 'raw'] as const;

/** Each format once; the tables with rows of different kinds. */
const SPECS: readonly ExportKillSpec[] = [
  ...TABLE_FORMATS.map((format, at) => ({ type: KILLED_TYPES[at % KILLED_TYPES.length] ?? 'full', format })),
  ...PAGE_FORMATS.map((format) => ({ type: PAGE_TYPE, format })),
];
const WAIT_MS = 300_000;
/** A kill comes at most this long after an export was seen running: most are written by then. */
const LATEST_KILL_MS = 600;
/** Nothing is killed later than this, whether or not an export was seen running. */
const PATIENCE_MS = 5_000;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const nameOf = ({ type, format }: ExportKillSpec): string => `${type}.${format}`;

/** What an export of the job has to be, made while nothing is killed. */
interface Expected {
  readonly rows: number;
  readonly content: string;
}

/** Exports a job while processes are killed, and compares the files with those of an undisturbed process. */
export async function killExports(options: ExportKillOptions): Promise<ExportKillReport> {
  const { kills, exportsPerLife, specs = SPECS, pages, seed, say = () => undefined } = options;
  const random = randomFrom(seed);
  const site = await startSite({ pages });
  const processes = await startKilled(options.profile);
  const problems: string[] = [];
  const made: string[] = [];
  const isOver = new AbortController();
  try {
    const jobId = await crawl(processes, `${site.hostUrl(0)}/big/`, pages);
    const expected = new Map<string, Expected>();
    for (const spec of specs) {
      const { id } = await create(processes, jobId, spec, `undisturbed-${nameOf(spec)}`);
      const [view] = await ended(processes, [id]);
      if (view?.status !== 'ready') throw new Error(`${nameOf(spec)}: ${JSON.stringify(view?.error)}`);
      expected.set(nameOf(spec), {
        rows: view.rows,
        content: await contentOf(view, await read(processes, id)),
      });
    }
    const downloading = downloadAll(processes, made, problems, isOver.signal);
    for (let life = 0; life < kills; life += 1) {
      for (let count = 0; count < exportsPerLife; count += 1) {
        const spec = specs[Math.floor(random() * specs.length)] as ExportKillSpec;
        made.push((await create(processes, jobId, spec, `export-${life}-${count}`)).id);
      }
      await someRunning(processes, made);
      await delay(random() * LATEST_KILL_MS);
      say(`kill ${life + 1} of ${kills}: ${await processes.kill(random)}`);
    }
    const views = await ended(processes, made);
    isOver.abort();
    const downloads = await downloading;
    for (const view of views) problems.push(...(await problemsOf(processes, view, expected)));
    const ready = views.filter(({ status }) => status === 'ready');
    const files = processes.dataDir === null ? null : await filesOf(processes.dataDir, ready, problems);
    const failed = views.length - ready.length;
    return { kills, ready: ready.length, failed, begunAgain: files, downloads, problems };
  } finally {
    isOver.abort();
    await processes.close();
    await site.close();
  }
}

async function crawl(processes: KilledProcesses, start: string, pages: number): Promise<string> {
  const urls = Array.from({ length: pages - 1 }, (_, page) => `${start}${page + 1}`);
  const { id } = await callKilled<{ id: string }>(processes, 'POST', '/v1/batch', { urls }, 'job');
  const until = performance.now() + WAIT_MS;
  while ((await callKilled<{ status: string }>(processes, 'GET', `/v1/jobs/${id}`)).status !== 'completed') {
    if (performance.now() > until) throw new Error('The job does not end.');
    await delay(100);
  }
  return id;
}

const create = (processes: KilledProcesses, jobId: string, spec: ExportKillSpec, key: string) =>
  callKilled<ExportView>(processes, 'POST', `/v1/jobs/${jobId}/exports`, spec, key);

const look = (processes: KilledProcesses, id: string) =>
  callKilled<ExportView>(processes, 'GET', `/v1/exports/${id}`);

async function someRunning(processes: KilledProcesses, ids: readonly string[]): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    for (const id of ids.slice(-20)) if ((await look(processes, id)).status === 'running') return;
    await delay(5);
  }
}

/** All of them, once each is ready or given up; a process writes one after the other. */
async function ended(processes: KilledProcesses, ids: readonly string[]): Promise<ExportView[]> {
  const views: ExportView[] = [];
  for (const id of ids) {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      const view = await look(processes, id);
      if (view.status === 'ready' || view.status === 'failed') {
        views.push(view);
        break;
      }
      if (performance.now() > until) throw new Error(`Export ${id} is ${view.status} and does not end.`);
      await delay(50);
    }
  }
  return views;
}

const request = (processes: KilledProcesses, id: string): Promise<Response> =>
  fetch(`${processes.api()}/v1/exports/${id}/download`, {
    headers: { 'x-api-key': KILL_KEY },
    signal: AbortSignal.timeout(PATIENCE_MS * 4),
  });

async function read(processes: KilledProcesses, id: string): Promise<Buffer> {
  const response = await request(processes, id);
  if (response.status !== 200) throw new Error(`The file of ${id} is answered with ${response.status}.`);
  return Buffer.from(await response.arrayBuffer());
}

/** Asks for every file until it gets one, or it is over: an answer is whole, or says that there is no file yet. */
async function downloadAll(
  processes: KilledProcesses,
  ids: readonly string[],
  problems: string[],
  isOver: AbortSignal,
): Promise<number> {
  const whole = new Set<string>();
  while (!isOver.aborted) {
    for (const id of ids.filter((each) => !whole.has(each))) {
      if (isOver.aborted) break;
      try {
        const response = await request(processes, id);
        const bytes = Buffer.from(await response.arrayBuffer());
        if (response.status === 200) whole.add(id);
        if (response.status === 404) problems.push(`${id} was not found.`);
        if (response.status === 200 && response.headers.get('etag') !== `"${sha256(bytes)}"`) {
          problems.push(`${id} was served with ${bytes.length} bytes that are not those of its checksum.`);
        }
      } catch {
        // The process that answered was killed: the client saw that.
      }
    }
    await delay(100);
  }
  return whole.size;
}

/**
 * What two exports of one job have in common: all bytes, but in archives, which name the time at which they were made: there it is
 * the addresses and digests of the records.
 */
async function contentOf({ format }: Pick<ExportView, 'format'>, bytes: Buffer): Promise<string> {
  if (format === 'wacz') {
    const files = unzipSync(bytes);
    const [name = ''] = Object.keys(files).filter((each) => each.endsWith('.warc.gz'));
    return `${Object.keys(files).join(' ')} ${await recordsOf(Buffer.from(files[name] ?? []))}`;
  }
  return format === 'warc' ? await recordsOf(bytes) : sha256(bytes);
}

async function recordsOf(warc: Buffer): Promise<string> {
  const records = await Array.fromAsync(
    checkedRecords(
      (async function* () {
        yield warc;
      })(),
    ),
  );
  return records
    .filter(({ type }) => type !== 'warcinfo')
    .map(({ type, url, payload }) => `${type} ${url} ${sha256(payload)}`)
    .join('\n');
}

async function problemsOf(
  processes: KilledProcesses,
  view: ExportView,
  expected: ReadonlyMap<string, Expected>,
): Promise<string[]> {
  const name = `${view.id} (${nameOf(view)})`;
  if (view.status === 'failed') {
    return view.error === null || view.error.message === '' ? [`${name} failed without a reason.`] : [];
  }
  const wanted = expected.get(nameOf(view));
  const bytes = await read(processes, view.id);
  const found: string[] = [];
  if (bytes.length !== view.sizeBytes)
    found.push(`${name} has ${bytes.length} bytes, not ${view.sizeBytes}.`);
  if (sha256(bytes) !== view.sha256) found.push(`${name} has another checksum.`);
  if (view.rows !== wanted?.rows) found.push(`${name} has ${view.rows} rows, not ${wanted?.rows}.`);
  const content = await contentOf(view, bytes).catch((error: Error) => error.message);
  if (content !== wanted?.content) found.push(`${name} is not what an undisturbed process writes.`);
  return found;
}

/** Each ready export has the file of its last attempt and no other. Returns how many were begun more than once. */
async function filesOf(dataDir: string, ready: readonly ExportView[], problems: string[]): Promise<number> {
  const names = (await readdir(join(dataDir, 'exports'))).filter((name) => !name.endsWith('.partial'));
  let begunAgain = 0;
  for (const { id } of ready) {
    const own = names.filter((name) => name.startsWith(`${id}.`));
    if (own.length !== 1) problems.push(`${id} has the files ${own.join(', ')}.`);
    if (own.some((name) => !name.startsWith(`${id}.1.`))) begunAgain += 1;
  }
  return begunAgain;
}
