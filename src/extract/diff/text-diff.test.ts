import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapseText, diffText, type TextDiff } from './text-diff.ts';

const shown = ({ segments }: TextDiff) =>
  segments.map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+', skipped: '…' }[kind]}${text}`);
/** Everything is shown, so that both texts can be put together again. */
const WHOLE = { contextChars: 1e9, shownChars: 1e9 };
const before = ({ segments }: TextDiff) =>
  segments.flatMap(({ kind, text }) => (kind === 'added' ? [] : [text])).join('');
const after = ({ segments }: TextDiff) =>
  segments.flatMap(({ kind, text }) => (kind === 'removed' ? [] : [text])).join('');

const word = fc.constantFrom(
  'a',
  'bb',
  'ccc',
  '19',
  '91',
  'ä',
  '😀',
  '.',
  '  ',
  '\n',
  '\n\n',
  '\t',
  '\u00a0',
);
const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '));

describe('a diff of texts', () => {
  it('is empty when only white space differs', () => {
    expect(diffText('a  b\nc', 'a b c\n', { by: 'word' }).segments).toEqual([]);
    expect(diffText('a\u00a0b', 'a b', { by: 'line' }).segments).toEqual([]);
  });

  it('shows the words that changed within a line', () => {
    const diff = diffText('one\nIt costs 19 EUR.\nend', 'one\nIt costs 91 EUR.\nend', { by: 'word' });
    expect(shown(diff)).toEqual([' one\n', ' It costs ', '-19', '+91', '  EUR.\n', ' end']);
    expect(diff).toMatchObject({ addedChars: 2, removedChars: 2, isCoarse: false });
  });

  it('shows whole lines by line', () => {
    const diff = diffText('a\nb\nc', 'a\nx\nc', { by: 'line' });
    expect(shown(diff)).toEqual([' a\n', '-b\n', '+x\n', ' c']);
  });

  it('takes words that change places for a change', () => {
    expect(diffText('red and blue', 'blue and red', { by: 'word' }).segments).not.toEqual([]);
  });

  it('leaves out unchanged text far from changes', () => {
    const long = `${'word '.repeat(500)}\n`;
    const diff = diffText(`${long}a\n${long}`, `${long}b\n${long}`, { by: 'word', contextChars: 10 });
    expect(shown(diff)).toEqual(['…', ' ord word \n', '-a', '+b', ' \n', ' word word ', '…']);
    expect(diff.segments.reduce((sum, { chars }) => sum + chars, 0)).toBe(2 * long.length + 3);
  });

  it('puts both texts together again', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom('word', 'line'), (a, b, by) => {
        const diff = diffText(a, b, { by, ...WHOLE });
        if (diff.segments.length === 0) expect(collapseText(a)).toBe(collapseText(b));
        else expect([before(diff), after(diff)]).toEqual([a, b]);
      }),
    );
  });

  it('is empty exactly when the collapsed texts are the same', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const isSame = collapseText(a) === collapseText(b);
        expect(diffText(a, b, { by: 'word' }).segments.length === 0).toBe(isSame);
        expect(diffText(a, b, { by: 'line' }).segments.length === 0).toBe(isSame);
      }),
    );
  });
});

describe('hostile texts', () => {
  const a = Array.from({ length: 20_000 }, (_, at) => `a${at}`).join('\n');
  const b = Array.from({ length: 20_000 }, (_, at) => `b${at}`).join('\n');

  it('with nothing in common cost a bounded number of steps and are told as coarse', () => {
    const diff = diffText(a, b, { by: 'word' });
    expect(diff).toMatchObject({ isCoarse: true, share: 1, isTruncated: true });
    expect(diff.segments.reduce((sum, segment) => sum + segment.text.length, 0)).toBeLessThanOrEqual(200_000);
  });

  it('are cut at the same place each time', () => {
    const swapped = a.split('\n').reverse().join('\n');
    const steps = { by: 'word', steps: 50_000 } as const;
    expect(diffText(a, swapped, steps)).toEqual(diffText(a, swapped, steps));
    expect(diffText(a, swapped, steps).isCoarse).toBe(true);
  });

  it('are told as coarse when the steps are spent, however few edits there are', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `line ${at}`);
    const [one, other] = [lines.join('\n'), [...lines].reverse().join('\n')];
    expect(diffText(one, other, { by: 'line' }).isCoarse).toBe(false);
    expect(diffText(one, other, { by: 'line', steps: 1_000 }).isCoarse).toBe(true);
  });

  it('of one long line keep what they have in common at both ends', () => {
    const line = 'x'.repeat(5_000_000);
    const diff = diffText(`${line}1${line}`, `${line}2${line}`, { by: 'word' });
    expect(diff).toMatchObject({ isCoarse: true, addedChars: 1, removedChars: 1 });
  });
});
