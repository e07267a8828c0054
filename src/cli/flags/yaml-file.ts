import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** A YAML or JSON file that a flag names. */
export interface YamlFile {
  readonly path: string;
  readonly value: unknown;
  /** The line on which the part at this place stands, or as much of the way to it as there is. */
  lineOf(place: readonly string[]): number;
}

/** Throws INVALID_USAGE, under the name of the flag, for what cannot be read. */
export function readYamlFile(cwd: string, file: string, flag: string): YamlFile {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw wrongFile(flag, `${path} cannot be read: ${(error as Error).message}`, error);
  }
  return parseYamlFile(path, text, flag);
}

/** Parses a file that was read already. */
export function parseYamlFile(path: string, text: string, flag: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const line = problem.linePos?.[0].line ?? 1;
    throw wrongFile(flag, `${path}:${line}: ${problem.message.split('\n', 1)[0]}`, problem);
  }
  return {
    path,
    value: document.toJS(),
    lineOf: (place) => lines.linePos(offsetOf(document.contents, place)).line,
  };
}

/** The value of YAML or JSON that was typed. Throws INVALID_USAGE under the name of what it was typed for. */
export function parseYaml(text: string, name: string): unknown {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw wrongFile(name, problem.message.split('\n', 1)[0] ?? '', problem);
  return document.toJS();
}

function offsetOf(root: unknown, place: readonly string[]): number {
  let node = root;
  let offset = 0;
  for (const name of place) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
      : undefined;
    const named = isSeq(node) ? node.items[Number(name)] : pair?.key;
    if (!isNode(named)) break;
    offset = named.range?.[0] ?? offset;
    node = pair === undefined ? named : pair.value;
  }
  return offset;
}

export const wrongFile = (flag: string, why: string, cause?: unknown): ScrapifieError =>
  new ScrapifieError('INVALID_USAGE', `${flag}: ${why}`, cause === undefined ? {} : { cause });
