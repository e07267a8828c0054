import { expect, it } from 'vitest';
import { recordId } from '../../lib/warc/warc-record.ts';
import { idBytes, idFromBytes, RecordIds } from './recording-place.ts';

it('ids of records are found again, by the thousand, and others are not', () => {
  const ids = new RecordIds();
  for (let at = 0; at < 5_000; at += 1) expect(ids.add(recordId('page', at))).toBe(true);
  expect(ids.add(recordId('page', 7))).toBe(false);
  expect(ids.size).toBe(5_000);
  for (let at = 0; at < 5_000; at += 1) expect(ids.has(recordId('page', at))).toBe(true);
  for (let at = 5_000; at < 10_000; at += 1) expect(ids.has(recordId('page', at))).toBe(false);
});

it('ids come back from their bytes', () => {
  const id = recordId('page', 1);
  const ids = new RecordIds();
  ids.add(idFromBytes(idBytes(id)));
  expect(ids.has(id)).toBe(true);
});
