import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { History } from './history.ts';

const SINGLE = ['expected'] as const satisfies readonly (keyof History)[];
const LISTS = [
  'jobs',
  'urls',
  'results',
  'stored',
  'calls',
  'requests',
  'actions',
  'exits',
  'memory',
  'leftovers',
  'tenants',
  'refusals',
  'received',
] as const satisfies readonly (keyof History)[];

export async function saveHistory(dir: string, history: History): Promise<void> {
  for (const name of SINGLE) await writeFile(join(dir, `${name}.json`), JSON.stringify(history[name]));
  for (const name of LISTS) {
    const lines = Readable.from(history[name].map((record) => `${JSON.stringify(record)}\n`));
    await pipeline(lines, createWriteStream(join(dir, `${name}.ndjson`)));
  }
}

/** Throws when a file is missing or is not what it should be. */
export async function readHistory(dir: string): Promise<History> {
  const read: Record<string, unknown> = {};
  for (const name of SINGLE) read[name] = JSON.parse(await readFile(join(dir, `${name}.json`), 'utf8'));
  for (const name of LISTS) {
    const records: unknown[] = [];
    const lines = createInterface({ input: createReadStream(join(dir, `${name}.ndjson`)) });
    for await (const line of lines) records.push(JSON.parse(line));
    read[name] = records;
  }
  return read as unknown as History;
}
