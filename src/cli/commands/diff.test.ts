import { expect, it } from 'vitest';
import type { VersionDiffView } from '../../capabilities/views/snapshot-view.ts';
import { describeVersionDiff } from './diff.ts';

it.each([
  [0.1234, '12.3 %'],
  [0.001, '0.1 %'],
  [0.0004, '<0.1 %'],
])('a share of %d of the pixels is told as %s', (share, told) => {
  const diff = { share, boxes: [{ x: 1, y: 2, width: 3, height: 4 }], problem: null };
  const found = { mode: 'visual', isChanged: true, diff } as unknown as VersionDiffView;
  expect(describeVersionDiff(found)).toBe(`screenshot: ${told} of the pixels: 3×4 at 1,2\n`);
});
