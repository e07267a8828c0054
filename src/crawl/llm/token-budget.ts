/** The share of the budget that is kept from the end of a cut text: addresses, dates and terms are there. */
const TAIL_SHARE = 0.2;
const CUT_MARK = '\n[…]\n';
/** How far back a cut may move to fall between lines. */
const LINE_REACH = 400;

/**
 * How many tokens a text has, by a rule that holds for the usual models and errs on the high side: four signs of ASCII to
 * a token, digits two, others one each. Exact counts differ by model and come with the answer.
 */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (let at = 0; at < text.length; at++) quarters += quartersOf(text.charCodeAt(at));
  return Math.ceil(quarters / 4);
}

function quartersOf(unit: number): number {
  if (unit >= 128) return unit >= 0x2e80 ? 5 : 3;
  return unit >= 48 && unit <= 57 ? 2 : 1.2;
}

/** The text, or its beginning and end when it has more tokens than allowed. */
export function cutToTokens(
  text: string,
  tokens: number,
): { readonly text: string; readonly isCut: boolean } {
  const quarters = Math.max(0, tokens) * 4;
  const whole = take(text, quarters, 1);
  if (whole === text.length) return { text, isCut: false };
  const tailChars = take(text, quarters * TAIL_SHARE, -1);
  const headChars = take(text, quarters * (1 - TAIL_SHARE) - CUT_MARK.length * 3, 1);
  const lineEnd = text.lastIndexOf('\n', headChars);
  const head = text.slice(0, lineEnd > headChars - LINE_REACH && lineEnd > 0 ? lineEnd : headChars);
  const tailStart = text.length - tailChars;
  const lineStart = text.indexOf('\n', tailStart);
  const isNear = lineStart !== -1 && lineStart < tailStart + Math.min(LINE_REACH, tailChars);
  const tail = text.slice(isNear ? lineStart + 1 : tailStart);
  return { text: `${head.toWellFormed()}${CUT_MARK}${tail.toWellFormed()}`, isCut: true };
}

/** How many signs from the start (or, backwards, the end) the budget pays for. */
function take(text: string, quarters: number, step: 1 | -1): number {
  let left = quarters;
  for (let count = 0; count < text.length; count++) {
    left -= quartersOf(text.charCodeAt(step === 1 ? count : text.length - 1 - count));
    if (left < 0) return count;
  }
  return text.length;
}
