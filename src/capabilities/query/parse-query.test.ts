import { describe, expect, it } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { parseQuery, type QueryRequest, writeCursor } from './parse-query.ts';

/** The problems of a request, `field: message` each; empty when there are none. */
function problemsOf(request: unknown): string[] {
  try {
    parseQuery(request as QueryRequest);
    return [];
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    expect(error.code).toBe('VALIDATION_FAILED');
    const details = error.details as readonly { field: string; message: string }[];
    return details.map(({ field, message }) => `${field}: ${message}`);
  }
}

const leaf = { field: 'statusCode', op: 'eq', value: 200 };
const nested = (depth: number): object => (depth === 0 ? leaf : { not: nested(depth - 1) });
const INJECTIONS = [
  "url' OR '1'='1",
  'url; DROP TABLE pages',
  'p.record',
  'j.account_id',
  'account_id',
  '*',
  'count(*)',
  '__proto__',
  'constructor',
  'toString',
  'url\u0000',
  'data.price)--',
  '"url"',
  'url AS x, (SELECT hash FROM keys)',
];

describe('a typed query', () => {
  it.each(INJECTIONS)('takes no name that is not in the catalogue: %j', (name) => {
    for (const from of ['pages', 'links', 'records']) {
      expect(problemsOf({ from, select: [name] })[0]).toMatch(/^select\.0: There is no field/);
      expect(problemsOf({ from, group: [name] })[0]).toMatch(/^group\.0: There is no field/);
      expect(problemsOf({ from, order: [name] })[0]).toMatch(/^order\.0: There is no field/);
      expect(problemsOf({ from, order: [`-${name}`] })[0]).toMatch(/^order\.0: There is no field/);
      expect(problemsOf({ from, where: { field: name, op: 'isNull' } })[0]).toMatch(
        /^where\.field: There is no field/,
      );
      expect(problemsOf({ from, select: [{ fn: 'count', field: name }] })[0]).toMatch(
        /^select\.0\.field: There is no/,
      );
    }
    expect(problemsOf({ from: name })[0]).toMatch(/^from: must be one of/);
    expect(problemsOf({ from: 'pages', where: { field: 'url', op: name, value: 'a' } })[0]).toMatch(
      /^where\.op: /,
    );
    expect(problemsOf({ from: 'pages', select: [{ fn: name, field: 'url' }] })[0]).toMatch(
      /^select\.0\.fn: /,
    );
    expect(problemsOf({ from: 'pages', group: [{ field: 'fetchedAt', by: name }] })[0]).toMatch(
      /^group\.0\.by: /,
    );
  });

  it.each(["a'b", 'a b', '', 'a"', 'x'.repeat(65), '1a', 'a;b', 'ä', '__proto__;'])(
    'takes no column name %j',
    (as) => {
      expect(problemsOf({ from: 'pages', select: [{ fn: 'count', as }] })[0]).toMatch(/^select\.0\.as: /);
    },
  );

  it.each([
    ['statuscode', 'statusCode'],
    ['titles', 'title'],
    ['fetched_at', 'fetchedAt'],
  ])('suggests for %s the field %s', (given, meant) => {
    expect(problemsOf({ from: 'pages', select: [given] })).toEqual([
      `select.0: There is no field "${given}" of pages; did you mean "${meant}"?`,
    ]);
  });

  it('names every field that is wrong, by its path', () => {
    const where = {
      and: [
        leaf,
        {
          or: [
            { field: 'bytes', op: 'gt', value: '1' },
            { field: 'title', op: 'lik', value: 'a' },
          ],
        },
      ],
    };
    expect(problemsOf({ from: 'pages', select: ['urll'], where, limit: 0 })).toEqual([
      'select.0: There is no field "urll" of pages; did you mean "url"?',
      'where.and.1.or.0.value: must be a number: "bytes" is of type number',
      expect.stringMatching(/^where\.and\.1\.or\.1\.op: must be one of/),
      'limit: must be a whole number from 1 to 1000',
    ]);
  });

  it.each([
    ['a text for a number', { field: 'statusCode', value: '200 OR 1=1' }],
    ['a number for a text', { field: 'title', value: 1 }],
    ['a list', { field: 'title', value: ['a'] }],
    ['an object', { field: 'title', value: { $ne: null } }],
    ['null', { field: 'title', value: null }],
    ['no number', { field: 'bytes', value: Number.NaN }],
    ['an endless number', { field: 'bytes', value: Number.POSITIVE_INFINITY }],
    ['U+0000', { field: 'title', value: 'a\0b' }],
    ['half of a character', { field: 'title', value: '\ud800' }],
    ['a long text', { field: 'title', value: 'x'.repeat(4_097) }],
    ['no time', { field: 'fetchedAt', value: "now()'" }],
    ['a time that there is not', { field: 'fetchedAt', value: '2026-13-01' }],
    ['an empty list', { field: 'title', op: 'in', value: [] }],
    ['a part of a number', { field: 'bytes', op: 'contains', value: '1' }],
    ['an empty part', { field: 'title', op: 'contains', value: '' }],
    ['a value that is not wanted', { field: 'title', op: 'isNull', value: 1 }],
    ['a key that is not known', { field: 'title', value: 'a', sql: '1=1' }],
    ['two at once', { and: [leaf], or: [leaf] }],
    ['no conditions', { and: [] }],
    ['a text', 'statusCode = 200'],
    ['a list of conditions', [leaf]],
  ])('refuses a condition with %s', (_, where) => {
    expect(problemsOf({ from: 'pages', where })).toHaveLength(1);
  });

  it('is bounded in depth, comparisons and values', () => {
    expect(problemsOf({ from: 'pages', where: nested(8) })).toEqual([]);
    expect(problemsOf({ from: 'pages', where: nested(9) })[0]).toMatch(
      /must not be nested deeper than 8 levels$/,
    );
    expect(problemsOf({ from: 'pages', where: nested(5_000) })).toHaveLength(1);
    const many = (count: number) => ({
      and: [{ or: Array(50).fill(leaf) }, { or: Array(count).fill(leaf) }],
    });
    expect(problemsOf({ from: 'pages', where: many(50) })).toEqual([]);
    expect(problemsOf({ from: 'pages', where: many(51) })).toEqual([
      'where: must have at most 100 comparisons',
    ]);
    const values = (count: number) => ({ field: 'bytes', op: 'in', value: Array(count).fill(1) });
    expect(problemsOf({ from: 'pages', where: values(2_000) })).toEqual([]);
    expect(problemsOf({ from: 'pages', where: values(100_000) })).toEqual([
      'where: must have at most 2000 values',
    ]);
    expect(problemsOf({ from: 'pages', select: Array(51).fill('url') })).toEqual([
      'select: must have at most 50 entries',
    ]);
  });

  it('counts only what is counted or grouped', () => {
    expect(problemsOf({ from: 'pages', group: ['host'], select: ['title', { fn: 'count' }] })[0]).toMatch(
      /^select: "title"/,
    );
    expect(problemsOf({ from: 'pages', group: ['host'], order: ['bytes'] })[0]).toMatch(
      /^order\.0: must be a column/,
    );
    expect(problemsOf({ from: 'pages', select: [{ fn: 'sum', field: 'title' }] })[0]).toMatch(
      /needs a number$/,
    );
    expect(problemsOf({ from: 'pages', group: [{ field: 'title', by: 'day' }] })[0]).toMatch(/needs a time$/);
    expect(problemsOf({ from: 'pages', group: ['host'], cursor: 'x' })[0]).toMatch(/^cursor: is only for/);
    expect(problemsOf({ from: 'pages', select: ['url', 'url'] })[0]).toMatch(/is there twice/);
  });

  it('takes a cursor with the query that gave it, and refuses every other', () => {
    const request = { from: 'pages', select: ['url'], order: ['title'] };
    const plan = parseQuery(request);
    const cursor = writeCursor(plan, { values: ['a'], row: [1, 2, 0] });
    expect(parseQuery({ ...request, cursor, limit: 7 }).after).toEqual({ values: ['a'], row: [1, 2, 0] });
    expect(problemsOf({ ...request, order: ['-title'], cursor })[0]).toMatch(
      /^cursor: The cursor is of another query/,
    );
    const [digest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string];
    const forged = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
    for (const content of [
      null,
      [],
      {},
      [digest],
      [digest, [], [1, 2, 0]],
      [digest, [1], [1, 2, 0]],
      [digest, [{ a: 1 }], [1, 2, 0]],
      [digest, ['a'], ['1 OR 1=1', 2, 0]],
      [digest, ['a'], [1, 2]],
      [digest, ['a'], [-1, 2, 0]],
      [digest, ['a\0'], [1, 2, 0]],
    ]) {
      expect(problemsOf({ ...request, cursor: forged(content) })[0]).toMatch(/^cursor: Not a cursor/);
    }
    expect(problemsOf({ ...request, cursor: '%%%' })[0]).toMatch(/^cursor: Not a cursor/);
    expect(problemsOf({ ...request, cursor: 'x'.repeat(70_000) })[0]).toMatch(/^cursor: Not a cursor/);
  });
});
