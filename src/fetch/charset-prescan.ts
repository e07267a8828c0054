/** How far into a document an encoding may be declared, by the HTML standard. */
const PRESCAN_BYTES = 1_024;

/**
 * Looks for an encoding that a document declares for itself: `<?xml … encoding="…"?>`, `<meta charset>` or
 * `<meta http-equiv="content-type" content="…; charset=…">` within its first 1,024 bytes, comments left out.
 * Returns the label as written, or null.
 */
export function prescanCharset(body: Uint8Array): string | null {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, PRESCAN_BYTES));
  const text = head.toString('latin1');
  return xmlDeclaration(text) ?? metaDeclaration(text);
}

function xmlDeclaration(text: string): string | null {
  if (!text.startsWith('<?xml')) return null;
  const end = text.indexOf('>');
  if (end === -1) return null;
  return /\bencoding\s*=\s*["']([^"'\s>]+)/i.exec(text.slice(0, end))?.[1] ?? null;
}

function metaDeclaration(text: string): string | null {
  let at = text.indexOf('<');
  while (at !== -1) {
    if (text.startsWith('<!--', at)) {
      // `<!-->` is a whole comment too, hence the two characters of overlap.
      const end = text.indexOf('-->', at + 2);
      if (end === -1) return null;
      at = text.indexOf('<', end + 3);
      continue;
    }
    if (/^<meta[\s/]/i.test(text.slice(at, at + 6))) {
      const { attributes, end } = readAttributes(text, at + 5);
      const label = declaredBy(attributes);
      if (label !== null) return label;
      at = text.indexOf('<', end);
      continue;
    }
    // Attributes of other tags may hold text that looks like a tag.
    at = /^<\/?[a-z]/i.test(text.slice(at, at + 3))
      ? text.indexOf('<', readAttributes(text, tagNameEnd(text, at)).end)
      : text.indexOf('<', at + 1);
  }
  return null;
}

function declaredBy(attributes: ReadonlyMap<string, string>): string | null {
  const charset = attributes.get('charset');
  if (charset !== undefined && charset.trim() !== '') return charset.trim();
  if (attributes.get('http-equiv')?.toLowerCase() !== 'content-type') return null;
  return charsetParameter(attributes.get('content') ?? '');
}

/** The charset parameter of a content type, as written, quotes off. */
export function charsetParameter(contentType: string): string | null {
  const match = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"',]+))/i.exec(contentType);
  const label = (match?.[1] ?? match?.[2] ?? match?.[3])?.trim();
  return label === undefined || label === '' ? null : label;
}

function tagNameEnd(text: string, at: number): number {
  let index = at + 1;
  while (index < text.length && !/[\s/>]/.test(text.charAt(index))) index += 1;
  return index;
}

interface Attributes {
  readonly attributes: ReadonlyMap<string, string>;
  /** Just behind the tag. */
  readonly end: number;
}

const ATTRIBUTE = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']*)))?/y;

function readAttributes(text: string, from: number): Attributes {
  const attributes = new Map<string, string>();
  let index = from;
  for (;;) {
    ATTRIBUTE.lastIndex = index;
    const match = ATTRIBUTE.exec(text);
    if (match === null) break;
    const name = (match[1] ?? '').toLowerCase();
    if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? '');
    index = ATTRIBUTE.lastIndex;
  }
  const close = text.indexOf('>', index);
  return { attributes, end: close === -1 ? text.length : close + 1 };
}
