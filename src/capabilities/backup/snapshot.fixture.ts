import { hash } from 'node:crypto';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { PortableRow, StoreSnapshot, TableShape } from '../../core/ports/store-copy.ts';
import { type BackupHead, writeBackup } from './backup-file.ts';

export const bodyOf = (text: string) => {
  const bytes = Buffer.from(text);
  return { hash: hash('sha256', bytes, 'hex') as ContentHash, bytes };
};

export const HEAD: BackupHead = {
  id: '0b0e7d5e-93b0-4bb6-a1cc-5ba4a7b8a1f5',
  createdAt: Date.UTC(2026, 0, 1),
  program: '0.0.0',
  profile: 'sqlite',
  vault: { keyId: null, keys: null },
};

/** A small installation in memory: two pages, of which one body is missing. */
export const BODIES = [bodyOf('one'), bodyOf('two'.repeat(1_000))];
const ABSENT = bodyOf('absent').hash;
const TABLES: readonly (TableShape & { readonly rows: readonly PortableRow[] })[] = [
  {
    name: 'pages',
    columns: ['content_hash', 'record', 'seq'],
    lastNumber: 9,
    rows: [...BODIES.map(({ hash: each }) => each), ABSENT].map((each, at) => [each, null, at + 1]),
  },
  { name: 'robots', columns: ['body', 'origin'], lastNumber: null, rows: [['User-agent: *', 'http://a']] },
];

export function smallSnapshot(): StoreSnapshot {
  return {
    schema: { sqlite: 1, postgres: 1 },
    tables: TABLES,
    async *rows(name) {
      yield TABLES.find((table) => table.name === name)?.rows ?? [];
    },
    async *references() {
      yield [...BODIES.map(({ hash: each }) => each), ABSENT];
    },
    close: async () => undefined,
  };
}

const blobs: Pick<Blobs, 'get'> = {
  get: async (wanted) => BODIES.find((body) => body.hash === wanted)?.bytes ?? null,
};

/** The bytes of a backup of it. */
export async function smallBackup(): Promise<Buffer> {
  const source = { snapshot: smallSnapshot(), blobs, keepBodies: async () => undefined };
  return Buffer.concat(await Array.fromAsync(writeBackup(source, HEAD, () => undefined)));
}
