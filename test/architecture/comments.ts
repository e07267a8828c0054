import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Comment {
  /** Number of its first line in the file; the first line of a file is 1. */
  readonly line: number;
  /** The prose, without the marks around it and in one line. */
  readonly text: string;
  /** False for a comment behind code, which may be a label such as `// NAT64`. */
  readonly isAlone: boolean;
}

/** Comments that speak to a tool, and not to readers. */
const FOR_TOOLS = /^(?:biome-ignore|@ts-|@vitest-|v8 ignore|#(?:region|endregion)|<reference)/;
const BEHIND_CODE = /[;,{}()\]] \/\/ (.+)$/;

/** Comments of sources as the formatter leaves them; lines that follow each other as `//` are one comment. */
export function commentsOf(text: string): readonly Comment[] {
  const lines = text.split('\n').map((line) => line.trim());
  const found: Comment[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    const first = lines[at] ?? '';
    if (/^\{?\/\*/.test(first)) {
      const parts = [first];
      while (!(lines[at] ?? '').includes('*/') && at + 1 < lines.length) {
        at += 1;
        parts.push(lines[at] ?? '');
      }
      const prose = parts.map((part) => part.replace(/^(?:\{?\/\*\*?|\*(?!\/))\s?/, '')).join(' ');
      found.push({ line, text: (prose.split('*/')[0] ?? '').trim(), isAlone: true });
    } else if (/^\/\/ /.test(first)) {
      const parts = [first];
      while (/^\/\/ /.test(lines[at + 1] ?? '')) {
        at += 1;
        parts.push(lines[at] ?? '');
      }
      found.push({ line, text: parts.map((part) => part.slice(3)).join(' '), isAlone: true });
    } else {
      const behind = BEHIND_CODE.exec(first)?.[1];
      if (behind !== undefined) found.push({ line, text: behind, isAlone: false });
    }
  }
  return found.filter(({ text }) => text !== '' && !FOR_TOOLS.test(text));
}

export interface CommentPattern {
  readonly name: string;
  /** What the comment lacks, for the message of the test. */
  readonly lacks: string;
  /** The folder whose comments are held to it; left out: all folders. */
  readonly within?: string;
  matches(comment: Comment): boolean;
}

const PRONOUN_ONE =
  /^One(?:'s\b| (?:as|at|by|can|for|has|in|is|may|must|of them|on|that|which|who|with|without)\b)/;

/** Comments that say nothing without the code below them. */
export const COMMENT_PATTERNS: readonly CommentPattern[] = [
  {
    name: 'three words or fewer',
    lacks: 'a sentence; where the name already says it, no comment is needed',
    matches: ({ text, isAlone }) => isAlone && text.split(/\s+/).length <= 3,
  },
  {
    name: 'begins with "Of"',
    lacks: 'the thing that is "of" something: "Hash of the body", not "Of the body"',
    matches: ({ text }) => /^Of\b/.test(text),
  },
  {
    name: 'begins with "Null for", "Null where" or "Null without"',
    lacks: 'what the value is otherwise, or the verb: "Returns null when no task is due"',
    matches: ({ text }) => /^Null (?:for|where|without)\b/.test(text),
  },
  {
    name: 'begins with "The same", "With" or "Null:"',
    lacks:
      'the noun that the rest is about: "The text of a body", not "The same of a body"; "Null when", not "Null:"',
    within: 'src/',
    matches: ({ text }) => /^(?:The same\b|With\b|Null:)/.test(text),
  },
  {
    name: 'points at another comment',
    lacks: 'its own reason: a reader of this line has not read the others',
    matches: ({ text }) => /^(?:See )?(?:above|below)\.?$/i.test(text),
  },
  {
    name: 'begins with a pronoun',
    lacks: 'its subject: the noun that the pronoun stands for',
    matches: ({ text }) => /^(?:It|They|Those|Ours|Theirs)\b/.test(text) || PRONOUN_ONE.test(text),
  },
  {
    name: 'speaks of "whoever", "somebody", "nobody" or "what is there"',
    lacks: 'the noun for who or what is meant: the client, the caller, the file',
    matches: ({ text }) => /\b(?:whoever|somebody|nobody|what is there)\b/i.test(text),
  },
];

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Folders with sources that people write; what a program wrote is left out. */
const FOLDERS = ['src', 'test', 'dashboard/src', 'scripts', 'fleet', 'bench', 'sdk/typescript'];
const WRITTEN_BY_PROGRAMS = ['sdk/typescript/src/api-types.ts'];

export interface CommentedFile {
  /** Relative to the root of the project, with forward slashes. */
  readonly path: string;
  readonly comments: readonly Comment[];
}

export function readComments(): readonly CommentedFile[] {
  return FOLDERS.flatMap((folder) => sourcesIn(join(root, folder)))
    .map((file) => ({ file, path: relative(root, file).split(sep).join('/') }))
    .filter(({ path }) => !WRITTEN_BY_PROGRAMS.includes(path))
    .map(({ file, path }) => ({ path, comments: commentsOf(readFileSync(file, 'utf8')) }));
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : sourcesIn(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}
