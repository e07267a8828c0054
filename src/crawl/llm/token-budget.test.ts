import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutToTokens, estimateTokens } from './token-budget.ts';

it('a text within the budget is left as it is', () => {
  expect(cutToTokens('short text', 100)).toEqual({ text: 'short text', isCut: false });
});

it('a longer one keeps its beginning and its end, in whole lines', () => {
  const lines = Array.from({ length: 500 }, (_, index) => `line number ${index}`);
  const { text, isCut } = cutToTokens(lines.join('\n'), 300);
  const kept = text.split('\n').filter((line) => line !== '[…]');
  expect(isCut).toBe(true);
  expect(kept.every((line) => lines.includes(line))).toBe(true);
  expect(kept[0]).toBe('line number 0');
  expect(kept.at(-1)).toBe('line number 499');
});

it('what is kept never has more tokens than allowed, and is whole text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 600 }),
      fc.integer({ min: 20, max: 120 }),
      (text, tokens) => {
        const cut = cutToTokens(text, tokens);
        expect(estimateTokens(cut.text)).toBeLessThanOrEqual(tokens + 1);
        expect(cut.text.isWellFormed()).toBe(text.isWellFormed() || cut.text.isWellFormed());
        if (!cut.isCut) expect(cut.text).toBe(text);
      },
    ),
  );
});
