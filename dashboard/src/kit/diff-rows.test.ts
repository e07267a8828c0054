import { describe, expect, it } from 'vitest';
import { type DiffSegment, diffRows } from './diff-rows.ts';

const segment = (kind: DiffSegment['kind'], text: string): DiffSegment => ({
  kind,
  text,
  chars: text.length,
});
const textOf = (spans: readonly { text: string }[] | null) => spans?.map(({ text }) => text).join('') ?? null;
const sidesOf = (segments: readonly DiffSegment[]) =>
  diffRows(segments).map(({ before, after }) => [textOf(before), textOf(after)]);

describe('rows of a comparison', () => {
  it('put a changed word into the line that has it on both sides', () => {
    const segments = [
      segment('same', 'one\nprice '),
      segment('removed', '19'),
      segment('added', '91'),
      segment('same', ' EUR\nlast'),
    ];
    expect(sidesOf(segments)).toEqual([
      ['one', 'one'],
      ['price 19 EUR', 'price 91 EUR'],
      ['last', 'last'],
    ]);
    expect(diffRows(segments).map(({ isChanged }) => isChanged)).toEqual([false, true, false]);
  });

  it('leave a side empty where the other alone has lines', () => {
    const segments = [segment('same', 'a\n'), segment('added', 'b\nc\n'), segment('same', 'd')];
    expect(sidesOf(segments)).toEqual([
      ['a', 'a'],
      [null, 'b'],
      [null, 'c'],
      ['d', 'd'],
    ]);
  });

  it('have a row for what is left out', () => {
    const rows = diffRows([
      segment('removed', 'x'),
      { kind: 'skipped', text: '', chars: 900 },
      segment('added', 'y'),
    ]);
    expect(rows.map(({ skippedChars }) => skippedChars)).toEqual([undefined, 900, undefined]);
  });
});
