import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeUnitsOf } from '../html/scanner.ts';
import { TextDigest } from './text-digest.ts';

function digestOf(pieces: readonly string[], hasEntities = false) {
  const digest = new TextDigest();
  for (const piece of pieces) digest.add(piece, codeUnitsOf(piece), 0, piece.length, hasEntities);
  return digest.finish();
}

function expected(text: string) {
  const even = text.replace(/[\s\0-\x20\x7f-\xa0]+/g, ' ').trim();
  const hash = createHash('sha256').update(even.toWellFormed()).digest('hex').slice(0, 32);
  return { hash: even === '' ? null : hash, length: even.length };
}

describe('TextDigest', () => {
  it('hashes the text with its white space collapsed', () => {
    const unit = fc.oneof(
      fc.constantFrom(' ', '\n', '\t', '\u00a0', '\u3000', 'a', 'é', '漢', '😀', '&'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join('').toWellFormed();
        expect(digestOf([text])).toEqual(expected(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not depend on how the text is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
        expect(digestOf(pieces)).toEqual(digestOf([pieces.join('')]));
      }),
    );
  });

  it('hashes texts longer than its buffer, whatever falls on the border', () => {
    for (const word of ['word ', 'a', ' \n x', 'é', '漢 ', '😀']) {
      const text = word.repeat(70_000);
      expect(digestOf([text]), word).toEqual(expected(text));
    }
    const spaced = `${'x'.repeat(49_151)}${' '.repeat(200_000)}`;
    expect(digestOf([spaced])).toEqual(expected(spaced));
  });

  it('decodes entities where asked to', () => {
    expect(digestOf(['a&amp;b &lt;c&gt;&nbsp;&nbsp;d &eacute;&#128512; &unknown; &'], true)).toEqual(
      expected('a&b <c> d é😀 &unknown; &'),
    );
    expect(digestOf(['&amp;'])).toEqual(expected('&amp;'));
    expect(digestOf([`&${'a'.repeat(100_000)}`], true)).toEqual(expected(`&${'a'.repeat(100_000)}`));
  });

  it('breaks words only where text is on both sides', () => {
    const digest = new TextDigest();
    const add = (text: string) => digest.add(text, codeUnitsOf(text), 0, text.length, true);
    digest.breakWord();
    add('a');
    digest.breakWord();
    digest.breakWord();
    add(' b ');
    digest.breakWord();
    expect(digest.finish()).toEqual(expected('a b'));
  });

  it('has no hash for no text', () => {
    expect(digestOf([' \n\t '])).toEqual({ hash: null, length: 0 });
  });
});
