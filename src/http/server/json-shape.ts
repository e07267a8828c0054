export interface BodyShape {
  readonly maxDepth: number;
  readonly maxValues: number;
  /** Names in one object; each new one costs a parser more than a value does. */
  readonly maxNames: number;
}

/** What a request body may look like before anything that recurses or that works per value sees it. */
export const BODY_SHAPE: BodyShape = { maxDepth: 100, maxValues: 200_000, maxNames: 10_000 };

export interface ShapeProblem {
  /** Where it begins, such as `extract.rules`; empty when it is the body as a whole. */
  readonly field: string;
  readonly message: string;
}

const FIELD_PARTS = 3;
const MAX_KEY_CHARS = 100;
/** No number that means something has more digits; reading millions takes long. */
const MAX_BARE_CHARS = 1_000;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Finds out in one pass over the text, without parsing it, whether arrays and objects are nested too deep or are too
 * many: parsers and validators use the stack for the one and time for the other. Null when the shape is fine. What is
 * not valid JSON is the parser's to refuse.
 */
export function shapeProblem(text: string, limits: BodyShape = BODY_SHAPE): ShapeProblem | null {
  let depth = 0;
  let values = 1;
  /** The key (as it stands in the text) or index at each of the first levels. */
  const path: (string | number)[] = [];
  /** How many names the object at each level has so far. */
  const names: number[] = [];
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (depth <= FIELD_PARTS) lastString = text.slice(at + 1, Math.min(end, at + 1 + MAX_KEY_CHARS));
      at = end;
    } else if (code === COLON) {
      if (depth <= FIELD_PARTS) path[depth - 1] = lastString;
      const count = (names[depth - 1] ?? 0) + 1;
      names[depth - 1] = count;
      if (count > limits.maxNames) {
        const message = `Too many names: an object may have at most ${limits.maxNames}.`;
        return { field: path.slice(0, depth - 1).join('.'), message };
      }
    } else if (code === COMMA) {
      values++;
      const index = path[depth - 1];
      if (typeof index === 'number') path[depth - 1] = index + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      values++;
      names[depth] = 0;
      depth++;
      if (depth <= FIELD_PARTS) {
        path.length = depth - 1;
        if (code === OPEN_ARRAY) path.push(0);
      }
      if (depth > limits.maxDepth) {
        const message = `Nested too deep: at most ${limits.maxDepth} arrays and objects may stand within each other.`;
        return { field: path.join('.'), message };
      }
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--;
      // More is closed than was opened: no JSON.
      if (depth < 0) return null;
    } else if (code > SPACE) {
      const end = endOfBare(text, at);
      if (end - at > MAX_BARE_CHARS) {
        return { field: path.join('.'), message: `A number has more than ${MAX_BARE_CHARS} characters.` };
      }
      at = end - 1;
    }
    if (values > limits.maxValues) {
      const message = `Too many values: a request body may have at most ${limits.maxValues}.`;
      return { field: String(path[0] ?? ''), message };
    }
  }
  return null;
}

/** The place after a number, or after `true`, `false` or `null`. */
function endOfBare(text: string, start: number): number {
  for (let end = start + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const isEnd =
      code <= SPACE || code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || code === QUOTE;
    if (isEnd || code === COLON || code === OPEN_ARRAY || code === OPEN_OBJECT) return end;
  }
  return text.length;
}

/** The place of the closing quote, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
