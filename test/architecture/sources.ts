import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SourceFile {
  /** Relative to src, with forward slashes: `crawl/politeness/gate.ts`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

export interface Import {
  /** A path relative to src for our own files, else the name of the module. */
  readonly target: string;
  readonly isOwn: boolean;
  /** What is taken by name; empty for everything else. */
  readonly names: readonly string[];
  /** False for `import type`, which is gone when the program runs, and for files that a thread begins with. */
  readonly isLoaded: boolean;
}

/** import … from, export … from, import '…', import('…'), new URL('./x.ts', import.meta.url) and siblingModule('./x.ts', …). */
const IMPORT =
  /(?:^|[;}\s])(?:import|export)\s+(type\s+(?!from\b))?([\w*{}\s,$]*?)\s*from\s*'([^']+)'|^import\s*'([^']+)'|\bimport\(\s*'([^']+)'|\b(?:new URL|siblingModule)\(\s*'(\.[^']+\.ts)'/gm;

export function importsOf(path: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].map(([, type, clause = '', ...targets]) => {
    const target = targets.find((each) => each !== undefined) ?? '';
    const isThreadFile = targets.at(-1) !== undefined;
    const names = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
    return {
      target: target.startsWith('.') ? posix.join(dirname(path), target) : target,
      isOwn: target.startsWith('.'),
      names: names
        .split(',')
        .map((name) => name.trim().split(/\s+as\s+/)[0] ?? '')
        .filter((name) => name !== ''),
      isLoaded: type === undefined && !isThreadFile,
    };
  });
}

/** Every file of src that ships: tests and their fixtures are free to import what they like. */
export function readSources(): readonly SourceFile[] {
  const root = fileURLToPath(new URL('../../src', import.meta.url));
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(entry.name),
    )
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const path = relative(root, file).split(sep).join('/');
      const text = readFileSync(file, 'utf8');
      return { path, text, imports: importsOf(path, text) };
    })
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** The .sql files of src, of which the schemas of the stores consist, with their comments. */
export function readSqlFiles(): readonly Pick<SourceFile, 'path' | 'text'>[] {
  const root = fileURLToPath(new URL('../../src', import.meta.url));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(root, path), 'utf8') }))
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** The code without comments, and with what stands in quotes emptied, so that words in prose do not count. */
export function bareCode(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g,
    (match) => (match.startsWith('`') ? match.replace(/[^`${}]/g, ' ') : ''),
  );
}
