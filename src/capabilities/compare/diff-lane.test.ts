import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_RULES } from '../../extract/diff/diff-rules.ts';
import { createDiffLane, type DiffLane } from './diff-lane.ts';

let lane: DiffLane | undefined;
afterEach(() => lane?.close());

const URL = 'https://a.test/';
const HTML = {
  a: { url: URL, html: '<p>19</p>' },
  b: { url: URL, html: '<p>91</p>' },
  rules: DEFAULT_RULES,
};
const CHANGES = [{ kind: 'changed', path: 'p', before: '19', after: '91' }];

describe('the thread that compares', () => {
  it('answers one call after the other', async () => {
    lane = createDiffLane();
    const found = await Promise.all([
      lane.run('html', HTML),
      lane.run('json', { a: '{"a":1,"b":1}', b: '{"a":2}', ignoredFields: ['b'] }),
      lane.run('html', { ...HTML, b: HTML.a }),
    ]);
    expect(found[0]?.changes).toEqual(CHANGES);
    expect(found[1]?.patch).toEqual([{ op: 'replace', path: '/a', value: 2 }]);
    expect(found[2]?.changes).toEqual([]);
  });

  it('gives errors their code', async () => {
    lane = createDiffLane();
    await expect(lane.run('json', { a: '{', b: '{}', ignoredFields: [] })).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPTION',
    });
  });

  it('ends a call that takes too long', async () => {
    lane = createDiffLane({ limitMs: 1 });
    const many = JSON.stringify(Array.from({ length: 50_000 }, (_, at) => ({ at })));
    const call = lane.run('json', { a: many, b: many, ignoredFields: [] });
    await expect(call).rejects.toMatchObject({ code: 'EXTRACTION_FAILED' });
  });

  it('blames no page for a thread that does not start', async () => {
    // No thread starts within a millisecond.
    lane = createDiffLane({ startMs: 1 });
    await expect(lane.run('html', HTML)).rejects.toMatchObject({ code: 'OVERLOADED' });
  });

  it('loses no other call with the thread that one call has taken down', async () => {
    lane = createDiffLane({ heapMb: 48 });
    const many = `[${'{"a":{"b":[[]]}},'.repeat(400_000)}1]`;
    const large = lane.run('json', { a: many, b: many, ignoredFields: [] });
    const other = lane.run('html', HTML);
    await expect(large).rejects.toMatchObject({ code: 'EXTRACTION_FAILED' });
    expect((await other).changes).toEqual(CHANGES);
  });

  it('takes no more calls than may wait, and none when it is closed', async () => {
    lane = createDiffLane({ mostWaiting: 1 });
    const calls = [lane.run('html', HTML), lane.run('html', HTML), lane.run('html', HTML)];
    const ends = await Promise.allSettled(calls);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(ends[2]).toMatchObject({ reason: { code: 'QUEUE_FULL' } });
    await lane.close();
    await expect(lane.run('html', HTML)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});
