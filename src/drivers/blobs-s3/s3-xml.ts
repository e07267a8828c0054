import { SaxesParser } from 'saxes';

/** What an answer says: its root element and the text of its leaves. */
export interface S3Xml {
  readonly root: string;
  /** The texts of all elements at this path below the root, in order: `Contents/Key`. */
  all(path: string): readonly string[];
  one(path: string): string | null;
}

/** Answers of S3 are four levels deep at most. */
const MAX_DEPTH = 16;

/** Null when it is not XML: the answer then comes from something else than an object store. */
export function readXml(text: string): S3Xml | null {
  const leaves = new Map<string, string[]>();
  const path: string[] = [];
  let content = '';
  let root: string | null = null;
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    if (path.length >= MAX_DEPTH) throw new Error('too deep');
    root ??= name;
    path.push(name);
    content = '';
  });
  parser.on('text', (more) => {
    content += more;
  });
  parser.on('closetag', () => {
    const place = path.slice(1).join('/');
    const known = leaves.get(place);
    if (known === undefined) leaves.set(place, [content]);
    else known.push(content);
    path.pop();
    content = '';
  });
  try {
    parser.write(text).close();
  } catch {
    return null;
  }
  if (root === null) return null;
  return { root, all: (at) => leaves.get(at) ?? [], one: (at) => leaves.get(at)?.[0] ?? null };
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
