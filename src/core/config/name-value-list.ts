/** `name=value` pairs with commas between them and percent-encoded values. Returns null when the text is none. */
export function readPairs(text: string): ReadonlyMap<string, string> | null {
  const pairs = new Map<string, string>();
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([\w.-]+)\s*=(.*)$/.exec(part) ?? [];
    if (name === '') return null;
    try {
      pairs.set(name, decodeURIComponent(value.trim()));
    } catch {
      return null;
    }
  }
  return pairs;
}
