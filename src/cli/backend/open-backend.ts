import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { readSettings } from '../flags/flags.ts';
import type { Shell } from '../shell/shell.ts';
import { createApiBackend } from './api-backend.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import type { Backend } from './backend.ts';
import { openLocalBackend } from './local-backend.ts';

/** The flags that say where a command works. */
export interface BackendFlags {
  readonly api?: string;
  readonly apiKey?: string;
  readonly dataDir?: string;
  /** Whose jobs and other things are meant in a data folder; on a server, the key decides that. */
  readonly account?: string | undefined;
}

/** A client of the server that the flags or the settings name; null when the command works by itself. */
export function apiClientOf(shell: Shell, flags: BackendFlags, signal?: AbortSignal): ApiClient | null {
  // A folder that was named is meant, whatever server the settings name.
  const isLocal = flags.api === undefined && flags.dataDir !== undefined;
  const settings = readSettings(shell, { apiUrl: flags.api, apiKey: flags.apiKey });
  if (settings.apiUrl === undefined || isLocal) return null;
  if (flags.dataDir !== undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      '--data-dir names a folder and --api a server: give one of them.',
    );
  }
  return createApiClient({ url: settings.apiUrl, key: settings.apiKey, signal });
}

/** Runs an action on the server that the flags or settings name, else on the data folder. */
export async function withBackend<T>(
  shell: Shell,
  flags: BackendFlags,
  action: (backend: Backend) => Promise<T>,
  mayMake = false,
): Promise<T> {
  const client = apiClientOf(shell, flags);
  if (client !== null && flags.account !== undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      '--account is for a data folder. On a server the API key decides whose account it is: give a key of that account.',
    );
  }
  const backend = client === null ? await openLocalBackend(shell, flags, mayMake) : createApiBackend(client);
  try {
    return await action(backend);
  } finally {
    await backend.close();
  }
}
