import { type Document, isMap, isNode, isScalar, type LineCounter } from 'yaml';

/** One problem of a configuration file in YAML. */
export interface FileProblem {
  /** From 1; null when it concerns the file as a whole. */
  readonly line: number | null;
  /** Path of the field, e.g. `providers.0.tier`; empty for the file as a whole. */
  readonly at: string;
  readonly problem: string;
}

export const MAX_FILE_CHARACTERS = 4 * 1024 * 1024;
const MAX_LISTED_PROBLEMS = 20;

/** The line of the key at the end of the path, or of the nearest key above it that is in the file. */
export function lineOfPath(path: readonly PropertyKey[], document: Document, lines: LineCounter): number {
  for (let depth = path.length; depth > 0; depth--) {
    const parent = depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
    const name = path[depth - 1];
    const key = isMap(parent)
      ? parent.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name)?.key
      : document.getIn(path.slice(0, depth), true);
    if (isNode(key) && key.range) return lines.linePos(key.range[0]).line;
  }
  return 1;
}

export const wholeFile = (problem: string): FileProblem => ({ line: null, at: '', problem });

/** The problems as one line of text; the first ones when there are many. */
export function describeProblems(problems: readonly FileProblem[]): string {
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ line, at, problem }) => {
    const place = line === null ? '' : `line ${line}: `;
    return `${place}${at === '' ? '' : `${at} `}${problem}`;
  });
  if (problems.length > listed.length) listed.push(`and ${problems.length - listed.length} more`);
  return listed.join('; ');
}
