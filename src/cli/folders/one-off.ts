import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SettingOverrides } from '../../config/load.ts';
import { settingsSecretsOf } from '../../config/secrets.ts';
import type { Settings } from '../../config/settings.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { OperatorOptions } from '../../jobs/job-draft.ts';
import { createLogger, type LoggerOptions } from '../../observe/logger.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { readSettings } from '../flags/flags.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { OpenPlatform, Shell } from '../shell/shell.ts';

/** Whoever types a command is the operator: what they ask for by a flag needs no consent in a policy. */
export const OPERATOR: OperatorOptions = { hasConsent: true };

/** A command works in its own folder, whatever servers on this machine are told to use. */
const ALONE = { role: 'all', databaseUrl: undefined, redisUrl: undefined, s3Url: undefined } as const;

/**
 * Opens a platform for one command. What `info` would log, the command shows itself; so at the default level only
 * `level` and worse are written, and any other level is taken as set.
 */
export async function openOneOff(
  shell: Shell,
  settings: Settings,
  level: Settings['logLevel'],
  destination?: LoggerOptions['destination'],
): Promise<OpenPlatform> {
  const logger = createLogger({
    level: settings.logLevel === 'info' ? level : settings.logLevel,
    secrets: settingsSecretsOf(settings),
    ...(destination === undefined ? {} : { destination }),
  });
  return shell.openPlatform({
    settings: { ...settings, ...ALONE },
    logger,
    metrics: createMetrics({ withProcess: false }),
  });
}

/**
 * Runs work whose state nobody needs afterwards in a data folder that is removed again. Ctrl-C ends it with
 * CANCELLED through the signal.
 */
export async function inTemporaryFolder<T>(
  shell: Shell,
  overrides: SettingOverrides,
  work: (platform: OpenPlatform, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'scrapifie-')).catch((error: Error) => {
    throw new ScrapifieError('DATA_DIR_UNUSABLE', `No temporary folder can be made: ${error.message}`, {
      cause: error,
    });
  });
  const interrupts = watchInterrupts();
  try {
    // Nothing is worth waiting for once the page is there, or once nobody wants it any more.
    const settings = readSettings(shell, { ...overrides, dataDir, drainMs: 0 });
    return await inPlace(shell, settings, interrupts.signal, work);
  } finally {
    interrupts.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The same in the data folder of the settings, where sessions are kept; nobody else may work there meanwhile. */
export async function inDataFolder<T>(
  shell: Shell,
  overrides: SettingOverrides,
  work: (platform: OpenPlatform, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const interrupts = watchInterrupts();
  try {
    return await inPlace(shell, readSettings(shell, { ...overrides, drainMs: 0 }), interrupts.signal, work);
  } finally {
    interrupts.close();
  }
}

async function inPlace<T>(
  shell: Shell,
  settings: Settings,
  signal: AbortSignal,
  work: (platform: OpenPlatform, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const platform = await openOneOff(shell, settings, 'fatal');
  try {
    await platform.start();
    return await work(platform, signal);
  } finally {
    await platform.close();
  }
}

/** A wait that ended without its result, told in words that fit a command: no job goes on behind it. */
export function explainWait(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof ScrapifieError) || error.code !== 'REQUEST_TIMEOUT') return error;
  return new ScrapifieError(
    'REQUEST_TIMEOUT',
    `Not ready within ${timeoutMs} ms; --timeout gives it longer.`,
  );
}
