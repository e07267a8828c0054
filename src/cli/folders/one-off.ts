import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperatorOptions } from '../../capabilities/jobs/accept/job-draft.ts';
import type { SettingOverrides } from '../../core/config/load.ts';
import { settingsSecretsOf } from '../../core/config/secrets.ts';
import type { Settings } from '../../core/config/settings.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { createLogger, type LoggerOptions } from '../../core/observe/logger.ts';
import { createMetrics } from '../../core/observe/metrics.ts';
import { defined } from '../../lib/defined.ts';
import { readSettings } from '../flags/flags.ts';
import { logFormatOf } from '../output/screen.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { OpenPlatform, Shell, StoragePlace } from '../shell/shell.ts';

/** The user of the command line is the operator: options given by flags need no consent in a policy. */
export const OPERATOR: OperatorOptions = { hasConsent: true };

/** A command works in its own folder, whatever servers on this machine are told to use. */
export const ALONE = { role: 'all', databaseUrl: undefined, redisUrl: undefined, s3Url: undefined } as const;

export interface OneOffOptions extends Pick<LoggerOptions, 'destination' | 'format' | 'isColoured'> {
  /** Where the sessions and credentials are that the command uses; left out: it uses none. */
  readonly accountsIn?: StoragePlace | undefined;
  /** After which time monitors look again at pages that a check was not sure of. */
  readonly recheckMs?: number | undefined;
}

type PlaceOptions = Pick<OneOffOptions, 'accountsIn' | 'recheckMs'>;

/**
 * Opens a platform for one command. The command prints what `info` would log, so at the default level only
 * `level` and worse are written, and any other level is taken as set.
 */
export async function openOneOff(
  shell: Pick<Shell, 'openPlatform'>,
  settings: Settings,
  level: Settings['logLevel'],
  { accountsIn, recheckMs, ...lines }: OneOffOptions = {},
): Promise<OpenPlatform> {
  const logger = createLogger({
    level: settings.logLevel === 'info' ? level : settings.logLevel,
    secrets: settingsSecretsOf(settings),
    ...lines,
  });
  return shell.openPlatform({
    writesExports: false,
    settings: { ...settings, ...ALONE },
    logger,
    metrics: createMetrics({ withProcess: false }),
    ...defined({ accountsIn, recheckMs }),
  });
}

/** No data folder of a server has such a name by chance: folders that have it are removed. */
const TEMPORARY_PREFIX = 'scrapifie-one-off-';

/** A new data folder that its caller removes; a later command removes it if this process is killed. */
export async function makeTemporaryFolder(shell: Pick<Shell, 'removeAbandonedFolders'>): Promise<string> {
  await shell.removeAbandonedFolders(TEMPORARY_PREFIX);
  return mkdtemp(join(tmpdir(), TEMPORARY_PREFIX)).catch((error: Error) => {
    throw new ScrapifieError('DATA_DIR_UNUSABLE', `No temporary folder can be made: ${error.message}`, {
      cause: error,
    });
  });
}

/**
 * Runs work in a temporary data folder, which is removed afterwards, and by a later command if this process is killed.
 * Ctrl-C ends it with CANCELLED through the signal.
 */
export async function inTemporaryFolder<T>(
  shell: Shell,
  overrides: SettingOverrides,
  work: (platform: OpenPlatform, signal: AbortSignal) => Promise<T>,
  accountsIn?: StoragePlace,
): Promise<T> {
  const dataDir = await makeTemporaryFolder(shell);
  const interrupts = watchInterrupts();
  try {
    // Once the page is there or the command was interrupted, remaining work need not be drained.
    const settings = readSettings(shell, { ...overrides, dataDir, drainMs: 0 });
    return await inPlace(shell, settings, interrupts.signal, work, { accountsIn });
  } finally {
    interrupts.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Works in a data folder, where what is fetched is kept; no other process may use the folder meanwhile. */
export async function inDataFolder<T>(
  shell: Shell,
  overrides: SettingOverrides,
  work: (platform: OpenPlatform, signal: AbortSignal) => Promise<T>,
  options: PlaceOptions = {},
): Promise<T> {
  const interrupts = watchInterrupts();
  const settings = readSettings(shell, { ...overrides, drainMs: 0 });
  try {
    return await inPlace(shell, settings, interrupts.signal, work, options);
  } finally {
    interrupts.close();
  }
}

async function inPlace<T>(
  shell: Shell,
  settings: Settings,
  signal: AbortSignal,
  work: (platform: OpenPlatform, signal: AbortSignal) => Promise<T>,
  options: PlaceOptions,
): Promise<T> {
  const platform = await openOneOff(shell, settings, 'fatal', {
    ...options,
    ...logFormatOf(shell, settings),
  });
  try {
    await platform.start();
    return await work(platform, signal);
  } finally {
    await platform.close();
  }
}

/** REQUEST_TIMEOUT in words that fit a command: unlike in the API, no job goes on in the background. */
export function explainWait(error: unknown, timeoutMs: number, option = '--timeout'): unknown {
  if (!(error instanceof ScrapifieError) || error.code !== 'REQUEST_TIMEOUT') return error;
  const { attempts } = (error.details ?? {}) as { readonly attempts?: unknown };
  return new ScrapifieError(
    'REQUEST_TIMEOUT',
    `Not ready within ${timeoutMs} ms; ${option} gives it longer.`,
    attempts === undefined ? {} : { details: { attempts } },
  );
}
