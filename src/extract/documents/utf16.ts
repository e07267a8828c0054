export type Utf16 = 'utf-16le' | 'utf-16be';

const LOOKED_AT_BYTES = 4_096;
const MIN_UNITS = 4;
/** Even text without any Latin has this much of it: spaces, line ends, digits, mark-up. */
const MIN_SHARE = 0.1;

/**
 * Tells UTF-16 without a byte order mark by its zeros: every ASCII character has one, always on the same side, and no
 * other encoding of text has zeros at all. Null for other bytes, and for text without ASCII characters, which cannot be
 * recognised.
 */
export function guessUtf16(bytes: Uint8Array): Utf16 | null {
  const units = Math.floor(Math.min(bytes.byteLength, LOOKED_AT_BYTES) / 2);
  if (units < MIN_UNITS) return null;
  let first = 0;
  let second = 0;
  for (let at = 0; at < units * 2; at += 2) {
    const isFirstZero = bytes[at] === 0;
    const isSecondZero = bytes[at + 1] === 0;
    // U+0000 is in no text.
    if (isFirstZero && isSecondZero) return null;
    if (isFirstZero) first++;
    else if (isSecondZero) second++;
  }
  const [charset, zeros, others] =
    second > first ? (['utf-16le', second, first] as const) : (['utf-16be', first, second] as const);
  // Characters such as U+0100 have their zero on the other side; they are rare.
  if (zeros < units * MIN_SHARE || others > zeros / 8) return null;
  return isText(bytes, units, charset) ? charset : null;
}

/** True when the code units are characters of text, with surrogates in pairs. */
function isText(bytes: Uint8Array, units: number, charset: Utf16): boolean {
  const low = charset === 'utf-16le' ? 0 : 1;
  let isPairOpen = false;
  for (let at = 0; at < units * 2; at += 2) {
    const unit = (bytes[at + low] ?? 0) + (bytes[at + 1 - low] ?? 0) * 256;
    const isTrail = unit >= 0xdc00 && unit < 0xe000;
    if (isTrail !== isPairOpen) return false;
    isPairOpen = unit >= 0xd800 && unit < 0xdc00;
    if (unit >= 0xfffe || (unit < 32 && unit !== 9 && unit !== 10 && unit !== 12 && unit !== 13))
      return false;
  }
  return true;
}
