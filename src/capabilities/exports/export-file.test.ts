import { describe, expect, it } from 'vitest';
import type { ExportId } from '../../core/model/ids.ts';
import { checkLink, LINK_MS, signedPath, targetPlace } from './export-file.ts';

const NOW = 1_767_225_600_000;
const of = { id: 'exp_1' as ExportId, secret: 'secret' };
const partsOf = (path: string) => {
  const query = new URL(path, 'http://x').searchParams;
  return { expires: Number(query.get('expires')), signature: query.get('signature') ?? '' };
};

describe('a signed link', () => {
  const link = partsOf(signedPath(of, NOW));

  it('works for an hour', () => {
    expect(checkLink(of, link, NOW)).toBe('valid');
    expect(checkLink(of, link, NOW + LINK_MS)).toBe('valid');
    expect(checkLink(of, link, NOW + LINK_MS + 1_001)).toBe('expired');
  });

  it('is of one export, one secret and one time', () => {
    expect(checkLink({ ...of, id: 'exp_2' as ExportId }, link, NOW)).toBe('wrong');
    expect(checkLink({ ...of, secret: 'other' }, link, NOW)).toBe('wrong');
    expect(checkLink(of, { ...link, expires: link.expires + 1 }, NOW)).toBe('wrong');
    for (const signature of ['', 'x', `${link.signature}AA`]) {
      expect(checkLink(of, { ...link, signature }, NOW)).toBe('wrong');
    }
  });
});

describe('the place of a copy', () => {
  const settings = { exportPlaces: '/srv/out, s3://bucket/exports', s3Url: 'http://k:s@s3.test/main' };
  const isAllowed = (target: Parameters<typeof targetPlace>[0]) => targetPlace(target, settings) !== null;

  it('is one that the operator names, or in it', () => {
    expect(['/srv/out', '/srv/out/a', '/srv/out/../out/b'].map((folder) => isAllowed({ folder }))).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      ['/srv', '/srv/outer', '/srv/out/..', '/', 's3://bucket/exports'].map((folder) =>
        isAllowed({ folder }),
      ),
    ).toEqual([false, false, false, false, true]);
    const buckets = [
      's3://bucket/exports',
      's3://bucket/exports/a',
      's3://bucket/exportsx',
      's3://bucket',
      's3://bucket/exports/../x',
    ];
    expect(buckets.map((s3) => isAllowed({ s3 }))).toEqual([true, true, false, false, false]);
    expect(targetPlace({ s3: 's3://bucket/exports/a' }, settings)).toEqual({
      s3Url: 'http://k:s@s3.test/bucket/exports/a',
    });
    expect(targetPlace({ folder: '/srv/out' }, { exportPlaces: '' })).toBeNull();
  });
});
