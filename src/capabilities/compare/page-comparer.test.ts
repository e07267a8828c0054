import { PNG } from 'pngjs';
import { afterAll, describe, expect, it } from 'vitest';
import type { ContentHash } from '../../core/model/ids.ts';
import { DEFAULT_RULES, diffRulesSchema } from '../../extract/diff/diff-rules.ts';
import { pngSize } from '../../extract/diff/picture-diff.ts';
import { createDiffLane } from './diff-lane.ts';
import { createPageComparer, diffVersions } from './page-comparer.ts';
import type { PageVersion } from './page-version.ts';

const stored = new Map<string, Uint8Array>();
const read: string[] = [];
const blobs = {
  async get(hash: ContentHash) {
    read.push(hash);
    return stored.get(hash) ?? null;
  },
};
const lane = createDiffLane();
const comparer = createPageComparer(blobs, lane);
afterAll(() => lane.close());

function put(hash: string, bytes: Uint8Array | string): ContentHash {
  stored.set(hash, Buffer.from(bytes as string));
  return hash as ContentHash;
}
const version = (hash: string | null, changes: Partial<PageVersion> = {}): PageVersion => ({
  url: 'https://a.test/',
  contentType: 'text/html',
  charset: 'utf-8',
  contentHash: hash as ContentHash | null,
  textHash: null,
  fields: {},
  screenshot: null,
  ...changes,
});
const png = (red: number): Buffer => {
  const picture = new PNG({ width: 20, height: 20 });
  for (let at = 0; at < picture.data.length; at += 4) picture.data.set([red, 0, 0, 255], at);
  return PNG.sync.write(picture);
};

describe('versions of a page', () => {
  it('of the same bytes are the same, whatever was read from them', async () => {
    const found = await comparer.compare(
      version('x', { fields: { price: 1 } }),
      version('x', { fields: {} }),
      DEFAULT_RULES,
    );
    expect(found).toMatchObject({ isChanged: false });
  });

  it('of the same text are told apart by their fields, and not read', async () => {
    read.length = 0;
    const [a, b] = [19, 91].map((price) => version(`body-${price}`, { textHash: 'same', fields: { price } }));
    const found = a && b && (await comparer.compare(a, b, DEFAULT_RULES));
    expect(found).toMatchObject({ isChanged: true, texts: [], fields: [{ field: 'price', difference: 72 }] });
    expect(read).toEqual([]);
  });

  it('of other texts are read and compared', async () => {
    const [a, b] = [version(put('one', '<p>19')), version(put('two', '<p>91'))];
    expect(await comparer.compare(a, b, DEFAULT_RULES)).toMatchObject({
      isChanged: true,
      texts: [{ name: 'text' }],
    });
    expect(await comparer.findSame(b, [a, version(put('three', '<div>91'))], DEFAULT_RULES)).toMatchObject({
      contentHash: 'three',
    });
  });

  it('whose body is gone cannot be compared', async () => {
    expect(await comparer.compare(version('gone'), version(put('one', 'x')), DEFAULT_RULES)).toBeNull();
    expect(await comparer.compare(version(null), version(put('one', 'x')), DEFAULT_RULES)).toBeNull();
  });

  it('without pictures cannot be compared by nothing but pictures', async () => {
    const rules = diffRulesSchema.parse({ watch: { screenshot: true } });
    expect(await comparer.compare(version('a'), version('b'), rules)).toBeNull();
  });

  it('are compared by their pictures, from the threshold on', async () => {
    const [a, b] = [put('red', png(255)), put('black', png(0))].map((screenshot) =>
      version('x', { screenshot }),
    );
    if (a === undefined || b === undefined) return;
    const deps = { blobs, lane, comparer };
    const found = await diffVersions(deps, a, b, 'visual', DEFAULT_RULES);
    expect(found).toMatchObject({ isChanged: true, diff: { share: 1, changedPixels: 400 } });
    expect(found.mode === 'visual' && pngSize(found.diff?.picture ?? new Uint8Array())).toEqual({
      width: 20,
      height: 20,
    });
    const threshold = { amount: 401 };
    expect(await diffVersions(deps, a, b, 'visual', diffRulesSchema.parse({ threshold }))).toMatchObject({
      isChanged: false,
      diff: null,
    });
    await expect(diffVersions(deps, a, version('x'), 'visual', DEFAULT_RULES)).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPTION',
    });
  });

  it('of JSON are compared as JSON, without the fields that are ignored', async () => {
    const json = (hash: string, value: unknown) =>
      version(put(hash, JSON.stringify(value)), { contentType: 'application/json' });
    const [a, b] = [json('j1', { a: 1, at: 1 }), json('j2', { a: 2, at: 2 })];
    const rules = diffRulesSchema.parse({ ignore: { fields: ['at'] } });
    expect(await diffVersions({ blobs, lane, comparer }, a, b, 'json', rules)).toEqual({
      mode: 'json',
      isChanged: true,
      diff: { patch: [{ op: 'replace', path: '/a', value: 2 }], isCoarse: false },
    });
    await expect(diffVersions({ blobs, lane, comparer }, a, b, 'html', rules)).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPTION',
    });
  });
});
