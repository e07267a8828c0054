import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { inject } from 'vitest';

/** The URL of an empty place in the bucket of the tests, with a name that needs encoding. */
export function newS3Place(): string {
  const url = new URL(inject('s3Url'));
  url.pathname += `/blobs ü+&/${randomBytes(6).toString('hex')}`;
  return url.href;
}

const TABLE = 'CREATE TABLE spilled_blobs (hash text PRIMARY KEY, bytes bytea NOT NULL, at bigint NOT NULL)';

/** The URL of a new schema with only the table that the blobs need. */
export async function newPostgresPlace(): Promise<string> {
  const schema = `blobs_${randomBytes(6).toString('hex')}`;
  const pool = new Pool({ connectionString: inject('postgresUrl'), max: 1 });
  await pool.query(`CREATE SCHEMA ${schema}; SET search_path TO ${schema}; ${TABLE}`);
  await pool.end();
  const url = new URL(inject('postgresUrl'));
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}
