import { describe, expect, it } from 'vitest';
import { writeJson, writeNdjson } from './json.ts';
import { bytesOf, HOSTILE_TEXTS, tableOf } from './tables.fixture.ts';

const COLUMNS = [
  { name: 'text', type: 'string' },
  { name: 'count', type: 'integer' },
  { name: 'record', type: 'json' },
] as const;
const TEXTS = [...HOSTILE_TEXTS, '\0', '\ud800'];
const ROWS = TEXTS.map((text, at) => [text, at, at === 0 ? null : JSON.stringify({ at })] as const);
const EXPECTED = TEXTS.map((text, at) => ({ text, count: at, record: at === 0 ? null : { at } }));

describe('JSON', () => {
  it('is one array that gives every value back', async () => {
    expect(JSON.parse((await bytesOf(writeJson, tableOf(COLUMNS, ROWS))).toString())).toEqual(EXPECTED);
    expect(JSON.parse((await bytesOf(writeJson, tableOf(COLUMNS, []))).toString())).toEqual([]);
  });

  it('NDJSON is one object per line', async () => {
    const lines = (await bytesOf(writeNdjson, tableOf(COLUMNS, ROWS))).toString().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(EXPECTED);
    expect(await bytesOf(writeNdjson, tableOf(COLUMNS, []))).toHaveLength(0);
  });

  it('takes the objects of a table that has them', async () => {
    const table = {
      ...tableOf(COLUMNS, ROWS),
      async *objects() {
        yield ['{"nested":{"deep":[1]}}'];
      },
    };
    expect((await bytesOf(writeNdjson, table)).toString()).toBe('{"nested":{"deep":[1]}}\n');
  });
});
