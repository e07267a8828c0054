import type { SelectorReader } from './selector-reader.ts';

const STEPPED = /^([+-]?\d*)n(?:[ \t\n\r\f]*([+-])[ \t\n\r\f]*(\d+))?/i;
const FIXED = /^[+-]?\d+/;
/** No page has as many elements, and sums stay exact. */
const MOST = 1_000_000_000;

/** Reads `odd`, `even`, `3`, `2n+1`, `-n + 3` … */
export function parseNth(reader: SelectorReader): { step: number; offset: number } {
  const rest = reader.source.slice(reader.at, reader.at + 60);
  const word = /^(odd|even)(?![\w-])/i.exec(rest)?.[0];
  if (word !== undefined) {
    reader.at += word.length;
    return { step: 2, offset: word.toLowerCase() === 'odd' ? 1 : 0 };
  }
  const stepped = STEPPED.exec(rest);
  if (stepped !== null) {
    const [whole, step = '', sign = '+', digits = '0'] = stepped;
    reader.at += whole.length;
    const factor = step === '' || step === '+' ? 1 : step === '-' ? -1 : Number(step);
    return { step: clamped(factor), offset: clamped(Number(`${sign}${digits}`)) };
  }
  const fixed = FIXED.exec(rest)?.[0];
  if (fixed === undefined) return reader.unexpected('a position such as `2`, `odd` or `2n+1`');
  reader.at += fixed.length;
  return { step: 0, offset: clamped(Number(fixed)) };
}

function clamped(number: number): number {
  return Math.max(-MOST, Math.min(MOST, number));
}
