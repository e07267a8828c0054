import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { readYamlFile, wrongFile } from './yaml-file.ts';

/** A list of routes from a YAML or JSON file; the schema validates its entries. */
export const readRoutes = (cwd: string, file: string | undefined): unknown =>
  file === undefined ? undefined : readList(cwd, file, '--routes', 'routes').list;

/**
 * The same of actions. Files of an `upload` may be named by `path`, beside that file, and are read here.
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
