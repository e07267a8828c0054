type Random = () => number;

const PIECES = [
  ...[
    '<',
    '>',
    '"',
    "'",
    '=',
    '&',
    '/',
    '{',
    '}',
    '[',
    ']',
    ',',
    '\\',
    '\u0000',
    '\ud800',
    '\ufeff',
    '%',
    '\n',
  ],
  ...[
    '</div>',
    '<table>',
    '<tr>',
    '<p>',
    '</p>',
    '<!--',
    '-->',
    '<script>',
    '</script>',
    '<pre>',
    '<li>',
    '<svg>',
  ],
  ...[
    '<template>',
    '<noscript>',
    '<a href="',
    '<div hidden>',
    '<style>',
    '<title>',
    '<textarea>',
    '<![CDATA[',
  ],
  ...[
    '<div itemscope itemref="a b">',
    '<p itemprop=name id=a>',
    '<i typeof="x:y" prefix="x: y">',
    '<base href="//[">',
  ],
];
const MOST_CHANGES = 8;
const LONGEST_CUT = 200;

/** A page with something put in, taken out, doubled or swapped in a few places. */
export function mutant(page: string, random: Random): string {
  let text = page;
  const changes = 1 + Math.floor(random() * MOST_CHANGES);
  for (let change = 0; change < changes; change++) {
    const at = Math.floor(random() * text.length);
    const end = at + Math.floor(random() * LONGEST_CUT);
    const kind = random();
    const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
    if (kind < 0.35) text = before + (PIECES[Math.floor(random() * PIECES.length)] ?? '') + part + after;
    else if (kind < 0.6) text = before + after;
    else if (kind < 0.8) text = before + part.repeat(1 + Math.floor(random() * 20)) + after;
    else if (kind < 0.9) text = after + part + before;
    else text = before + part.toUpperCase() + after;
  }
  return text;
}

/** Bytes with some of them changed, or the end missing. */
export function mutantBytes(bytes: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  const isCut = random() < 0.3;
  const copy = Uint8Array.from(isCut ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes);
  const changes = 1 + Math.floor(random() * MOST_CHANGES);
  for (let change = 0; change < changes && copy.length > 0; change++) {
    copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  }
  return copy;
}
