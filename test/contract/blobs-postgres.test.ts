import { Pool } from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { createBlobsPostgres } from '../../src/drivers/blobs-postgres/blobs-postgres.ts';
import { blobOf, blobsContract, type CopyOptions, type OpenedBlobs } from './blobs-contract.ts';
import { newPostgresPlace } from './blobs-places.ts';

async function openAt(url: string, options: CopyOptions = {}): Promise<OpenedBlobs> {
  const driver = await createBlobsPostgres({ url, ...options });
  const raw = new Pool({ connectionString: url, max: 1 });
  return {
    driver,
    async damage(hash, spoil) {
      const { rows } = await raw.query<{ bytes: Buffer }>('SELECT bytes FROM spilled_blobs WHERE hash = $1', [
        hash,
      ]);
      for (const { bytes } of rows) {
        await raw.query('UPDATE spilled_blobs SET bytes = $2 WHERE hash = $1', [hash, spoil(bytes)]);
      }
    },
    reopen: (changes = options) => openAt(url, changes),
    async close() {
      await driver.close();
      await raw.end();
    },
  };
}

blobsContract('PostgreSQL', async () => openAt(await newPostgresPlace()));

describe('blobs in PostgreSQL', () => {
  test('leave a pool they were given to its owner', async () => {
    const pool = new Pool({ connectionString: await newPostgresPlace(), max: 1 });
    const blobs = await createBlobsPostgres({ pool });
    const blob = blobOf('a body');
    await blobs.put([blob]);
    await blobs.close();
    const { rows } = await pool.query<{ hash: string }>('SELECT hash FROM spilled_blobs');
    expect(rows).toEqual([{ hash: blob.hash }]);
    await pool.end();
  });

  test('are written when they come, not again when they are there', async () => {
    const url = await newPostgresPlace();
    const blobs = await createBlobsPostgres({ url });
    const pool = new Pool({ connectionString: url, max: 1 });
    const storedAt = async () => (await pool.query<{ at: string }>('SELECT at FROM spilled_blobs')).rows;
    await blobs.put([blobOf('a body')]);
    const before = await storedAt();
    await blobs.put([blobOf('a body')]);
    expect(await storedAt()).toEqual(before);
    await pool.end();
    await blobs.close();
  });

  test('say that the database is away, without the password', async () => {
    const url = new URL(inject('postgresUrl'));
    url.port = '1';
    url.password = 'canary-secret';
    const blobs = await createBlobsPostgres({ url: url.href });
    const error = await blobs.get(blobOf('x').hash).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(String(error) + JSON.stringify(error)).not.toContain('canary-secret');
    await blobs.close();
  });

  test('say that there is no such database', async () => {
    const url = new URL(inject('postgresUrl'));
    url.pathname = '/nowhere';
    const blobs = await createBlobsPostgres({ url: url.href });
    await expect(blobs.check()).rejects.toMatchObject({ code: 'STORE_REFUSED' });
    await blobs.close();
  });
});
