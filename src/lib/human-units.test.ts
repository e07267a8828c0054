import { expect, it } from 'vitest';
import {
  describeBytes,
  describeCount,
  describeMs,
  describeShare,
  describeSpeed,
  describeTime,
} from './human-units.ts';

it('tells amounts as people read them', () => {
  expect([593, 60_272, 1_234_567_890].map(describeBytes)).toEqual(['593 B', '60.3 kB', '1.2 GB']);
  expect([400, 200_000, 7_500_000].map(describeMs)).toEqual(['0.4 s', '3 min 20 s', '2 h 05 min']);
  expect([1, 2_000].map((count) => describeCount(count, 'page'))).toEqual(['1 page', '2,000 pages']);
  expect([0.42, 20.16, 160.4].map(describeSpeed)).toEqual(['0.4', '20.2', '160']);
  expect(describeTime('2026-11-17T02:09:52.623Z')).toBe('2026-11-17 02:09:52 UTC');
});

it('tells a small share as such', () => {
  expect([0, 0.0009, 0.001, 0.5, 2].map(describeShare)).toEqual([
    '0.0 %',
    '<0.1 %',
    '0.1 %',
    '50.0 %',
    '200.0 %',
  ]);
});
