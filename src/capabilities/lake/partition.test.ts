import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import { dayOf, hostOf, lakePath, newFileId, partitionName, readLakePath } from './lake-layout.ts';

describe('the name of a partition', () => {
  it('is the host itself where that is plain', () => {
    expect(partitionName('shop.example.com')).toBe('shop.example.com');
    expect(partitionName(hostOf('https://münchen.example/') ?? '')).toBe('xn--mnchen-3ya.example');
  });

  it('holds no letter that a path could stumble over', () => {
    expect(partitionName(hostOf('http://[2001:db8::1]:8080/') ?? '')).toBe('_5b2001_3adb8_3a_3a1_5d_3a8080');
    expect(partitionName('..')).toBe('_2e_2e');
    expect(partitionName('a/../b')).toBe('a_2f.._2fb');
    expect(partitionName('')).toBe('_none');
    for (const host of [`${'a'.repeat(63)}.`.repeat(4), 'x'.repeat(5_000), 'ü'.repeat(200)]) {
      expect(partitionName(host).length).toBeLessThanOrEqual(120);
    }
  });

  it('is safe, short and another one for every other host', () => {
    const text = fc.string({ unit: 'binary', maxLength: 140 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const name = partitionName(one);
        expect(name).toMatch(/^(?!\.)[a-z0-9._-]{1,120}(?<!\.)$/);
        const isSame = one.toLowerCase().toWellFormed() === other.toLowerCase().toWellFormed();
        expect(name === partitionName(other)).toBe(isSame);
      }),
    );
  });
});

describe('the path of a file', () => {
  it('says account, table, partition and when the file was made', () => {
    const id = newFileId(1_767_225_600_000, 'abcdef0123456789');
    const partition = { accountId: 'acc_1' as AccountId, table: 'links', domain: 'a.test' } as const;
    const path = lakePath({ ...partition, date: dayOf(1_767_225_600_000) }, id);
    expect(path).toBe(`acc_1/links/domain=a.test/date=2026-01-01/${id}.parquet`);
    expect(readLakePath(path)).toEqual({ accountId: 'acc_1', id, madeAt: 1_767_225_600_000 });
  });

  it('is told from files that the lake has not written', () => {
    for (const path of [
      'acc_1/_manifest.json',
      'notes.txt',
      'acc_1/pages/x.parquet',
      'acc_1/other/a/b.parquet',
    ])
      expect(readLakePath(path)).toBeNull();
  });
});
