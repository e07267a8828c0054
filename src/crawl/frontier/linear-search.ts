/** Up to this length a naive comparison at every place is cheap enough. */
const SHORT_CHARS = 8;

/** The failure table of the needle being searched; searches never overlap, so one table serves all. */
let failures = new Int32Array(1_024);

/** Counts work, so that input written to cost time is noticed by its steps and not by a clock. */
export interface Steps {
  left: number;
}

/**
 * `text.indexOf(needle, from)` in time linear in both. The engine's own search compares the whole needle at every
 * place in the worst case, which makes `aaa…ab` in `aaa…a` quadratic. Takes the steps it makes from `steps` and
 * returns -1 once none are left, so callers look at `steps.left` before they believe it.
 */
export function indexOfLinear(text: string, needle: string, from: number, steps: Steps): number {
  steps.left -= 1;
  if (needle.length > text.length - from) return -1;
  // Most needles do not occur at all, and their beginning tells so at the engine's own speed.
  const head = needle.length <= SHORT_CHARS ? needle : needle.slice(0, SHORT_CHARS);
  const start = text.indexOf(head, from);
  steps.left -= (start === -1 ? text.length : start + head.length) - from;
  if (start === -1 || needle.length <= SHORT_CHARS) return start;
  return steps.left < 0 ? -1 : searchByFailures(text, needle, start, steps);
}

/** The algorithm of Knuth, Morris and Pratt. */
function searchByFailures(text: string, needle: string, from: number, steps: Steps): number {
  if (failures.length < needle.length) failures = new Int32Array(needle.length * 2);
  failures[0] = 0;
  for (let at = 1, matched = 0; at < needle.length; at++) {
    const code = needle.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = failures[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === code) matched++;
    failures[at] = matched;
  }
  let at = from;
  for (let matched = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = failures[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === code) matched++;
    if (matched === needle.length) break;
  }
  steps.left -= needle.length + at - from;
  return at < text.length ? at - needle.length + 1 : -1;
}
