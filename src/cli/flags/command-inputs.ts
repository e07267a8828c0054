import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';
import type { Shell } from '../shell/shell.ts';
import { readYamlFile, wrongFile } from './yaml-file.ts';

/** A list of routes from a YAML or JSON file; the schema validates its entries. */
export const readRoutes = (cwd: string, file: string | undefined): unknown =>
  file === undefined ? undefined : readList(cwd, file, '--routes', 'routes').list;

/**
 * A list of actions from such a file. Files of an `upload` may be named by `path`, beside that file, and are read here.
 */
export function readActions(cwd: string, file: string | undefined): unknown {
  if (file === undefined) return undefined;
  const { path, list } = readList(cwd, file, '--actions', 'actions');
  return list.map((action: unknown) => withFiles(action, dirname(path)));
}

function readList(cwd: string, file: string, flag: string, what: string): { path: string; list: unknown[] } {
  const { path, value } = readYamlFile(cwd, file, flag);
  if (!Array.isArray(value)) throw wrongFile(flag, `${path} must hold a list of ${what}.`);
  return { path, list: value };
}

function withFiles(action: unknown, folder: string): unknown {
  if (!isObject(action) || !Array.isArray(action.files)) return action;
  return { ...action, files: action.files.map((file: unknown) => withBytes(file, folder)) };
}

function withBytes(file: unknown, folder: string): unknown {
  if (!isObject(file) || typeof file.path !== 'string') return file;
  const { path, ...given } = file;
  const found = resolve(folder, path);
  try {
    return { name: basename(found), ...given, base64: readFileSync(found).toString('base64') };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw wrongFile('--actions', `The file ${found} cannot be read: ${reason}.`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/**
 * A secret from standard input, or typed without echo; never an argument, which every process could read. Of a
 * pipe everything counts but the final line end; typed input ends with the line, or with an empty one for
 * several lines.
 */
export async function readSecret(
  prompt: string,
  { input, output }: { input: NodeJS.ReadStream; output: NodeJS.WriteStream },
  hasLines: boolean,
): Promise<string> {
  if (!input.isTTY) return (await text(input)).replace(/\r?\n$/, '');
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silence, terminal: true });
  try {
    const typed: string[] = [];
    do {
      output.write(typed.length === 0 ? prompt : '> ');
      typed.push(await lines.question(''));
      output.write('\n');
    } while (hasLines && typed.at(-1) !== '');
    return typed.join('\n').trimEnd();
  } finally {
    lines.close();
  }
}

/**
 * Says which scheme was assumed for URLs that were typed without one, such as `example.com`: the page behind
 * https:// need not be the one behind http://. URLs that cannot be fetched are passed over; the command refuses them.
 */
export function tellAssumedSchemes(shell: Shell, urls: readonly string[]): void {
  for (const typed of urls) {
    if (/^\s*https?:/i.test(typed)) continue;
    const url = parseStoredSeed(typed);
    if (url !== null) shell.stderr.write(`${typed.trim()} has no scheme; ${url.href} is fetched.\n`);
  }
}
