import { expect, it } from 'vitest';
import { LAKE_TABLES } from '../../core/ports/lake-store.ts';
import { LAKE_COLUMNS, LAKE_SCHEMA_VERSION } from './lake-layout.ts';

/** The columns of every version, as they were released: a line is never changed, and new ones come behind. */
const RELEASED: Readonly<Record<number, Readonly<Record<(typeof LAKE_TABLES)[number], string>>>> = {
  1: {
    pages:
      'job_id text, task_id int64, page_seq int64, url text, host text, fetched_at time, final_url text, status_code int32, content_type text, charset text, depth int32, bytes int64, content_hash text, text_hash text, title text, description text, language text, canonical_url text, robots text, h1 text, word_count int32, link_count int32, outcome text, is_rendered boolean, etag text, last_modified text, duplicate_of text, error_code text, error_message text',
    links:
      'job_id text, task_id int64, page_seq int64, url text, host text, fetched_at time, position int32, link_url text, link_host text, text text, rel text, kind text, is_internal boolean',
    records:
      'job_id text, task_id int64, page_seq int64, url text, host text, fetched_at time, type text, probability double, data text, structured text, title text, author text, published_at text, modified_at text, page_type text, text text, markdown text',
  },
};

it('a column of the lake is only ever added, with a new version of the schema', () => {
  for (const [version, tables] of Object.entries(RELEASED)) {
    for (const table of LAKE_TABLES) {
      const columns = LAKE_COLUMNS[table]
        .filter(({ since }) => since <= Number(version))
        .map(({ name, type }) => `${name} ${type}`);
      expect(columns.join(', ')).toBe(tables[table]);
    }
  }
  expect(Object.keys(RELEASED).map(Number).at(-1)).toBe(LAKE_SCHEMA_VERSION);
  const newest = Object.values(LAKE_COLUMNS).flatMap((columns) => columns.map(({ since }) => since));
  expect(Math.max(...newest)).toBe(LAKE_SCHEMA_VERSION);
});
