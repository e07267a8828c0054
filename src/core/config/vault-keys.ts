import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { PRIVATE_FILE } from './private-files.ts';
import type { Settings } from './settings.ts';

/** The settings that say which keys the vault has. */
export type VaultSettings = Pick<
  Settings,
  'vaultKey' | 'vaultOldKeys' | 'vaultKeyPath' | 'allowPlainSecrets' | 'databaseUrl' | 'dataDir'
>;

const KEY_FILE = 'vault.key';
const KEY_LINE = /^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)$/;

/** The file that keys are read from besides the settings; null where there is none. */
export function keyFileOf({ vaultKeyPath, databaseUrl, dataDir }: VaultSettings): string | null {
  // Processes that share a database are on several machines: a key that each makes for itself would open nothing.
  return vaultKeyPath ?? (databaseUrl === undefined ? join(dataDir, KEY_FILE) : null);
}

/** The settings with the keys of the key file: its first line seals unless `vaultKey` is set, and the others open. */
export function readVaultKeys<T extends VaultSettings>(settings: T): T {
  const path = keyFileOf(settings);
  const inFile = path === null ? [] : readKeyFile(path);
  const [key, ...others] = settings.vaultKey === undefined ? inFile : [settings.vaultKey, ...inFile];
  if (key === undefined) return settings;
  const old = [settings.vaultOldKeys, ...others.filter((each) => each !== key)];
  return { ...settings, vaultKey: key, vaultOldKeys: old.filter((each) => each !== '').join(',') };
}

/**
 * `readVaultKeys` for processes that encrypt: without any key, a key is made where one process has its own data folder. Throws INVALID_SETTINGS where the store has sealed
 * records and there is no key, unless `allowPlainSecrets` says to go on without.
 */
export async function withVaultKeys<T extends VaultSettings>(
  settings: T,
  hasSealed: () => Promise<boolean>,
): Promise<T> {
  const known = readVaultKeys(settings);
  if (known.vaultKey !== undefined) return known;
  requireKeyFile(settings);
  return settings.allowPlainSecrets ? settings : withMadeKey(settings, await hasSealed());
}

/** The settings with a key that is made now where none is there. Throws as `withVaultKeys` does. */
export function withMadeKey<T extends VaultSettings>(settings: T, hasSealed: boolean): T {
  requireKeyFile(settings);
  const path = keyFileOf(settings);
  if (hasSealed) {
    const place = path === null ? '' : ` or bring back ${path}`;
    throw new ScrapifieError(
      'INVALID_SETTINGS',
      `The database holds encrypted secrets and there is no vault key. Set SCRAPIFIE_VAULT_KEY${place}. To go on without these secrets, set SCRAPIFIE_ALLOW_PLAIN_SECRETS=true.`,
    );
  }
  if (settings.databaseUrl !== undefined || path === null) return settings;
  const [made] = makeKeyFile(path);
  return made === undefined ? settings : { ...settings, vaultKey: made };
}

/** Processes that share a database share the file: none of them makes it. */
function requireKeyFile({ vaultKeyPath, databaseUrl }: VaultSettings): void {
  if (vaultKeyPath !== undefined && databaseUrl !== undefined) {
    throw unusable(vaultKeyPath, 'there is no such file');
  }
}

/** The keys of the file, the encrypting key first; none when there is no file. */
export function readKeyFile(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unusable(path, (error as Error).message);
  }
  const keys = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  // Without the line, which may be a key with one character too many.
  if (keys.length === 0 || !keys.every((key) => KEY_LINE.test(key))) {
    throw unusable(path, 'each line must be a key of 32 bytes in hex or base64');
  }
  return keys;
}

export const newVaultKey = (): string => randomBytes(32).toString('hex');

/** Makes a key, unless another process was faster: the keys that are in the file then. */
export function makeKeyFile(path: string): readonly string[] {
  const draft = writeDraft(path, [newVaultKey()]);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(path, (error as Error).message);
  } finally {
    rmSync(draft, { force: true });
  }
  return readKeyFile(path);
}

/** Replaces the file as a whole: a crash leaves either the old keys or the new ones. */
export function replaceKeyFile(path: string, keys: readonly string[]): void {
  renameSync(writeDraft(path, keys), path);
}

function writeDraft(path: string, keys: readonly string[]): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', PRIVATE_FILE);
    try {
      writeSync(file, `${keys.join('\n')}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unusable(path, (error as Error).message);
  }
  return draft;
}

const unusable = (path: string, why: string) =>
  new ScrapifieError('INVALID_SETTINGS', `The vault key file ${path} cannot be used: ${why}.`);
