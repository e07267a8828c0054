import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { readSettings } from '../flags/flags.ts';
import { dataPlaceOf, requireDatabase } from '../folders/data-folder.ts';
import type { OpenCommandApi, Shell } from '../shell/shell.ts';
import { createApiBackend } from './api-backend.ts';
import { type ApiAnswer, type ApiRequest, createApiClient } from './api-client.ts';
import type { Backend } from './backend.ts';
import { localExports } from './export-backend.ts';
import { createServerClient, type ServerClient } from './server-client.ts';

/** The flags that say where a command works. */
export interface BackendFlags {
  readonly api?: string;
  readonly apiKey?: string;
  readonly dataDir?: string;
  /** Whose jobs and other things are meant in a data folder; on a server, the key decides that. */
  readonly account?: string | undefined;
}

/** A client of the server that the flags or the settings name; null when the command works by itself. */
export function apiClientOf(shell: Shell, flags: BackendFlags, signal?: AbortSignal): ServerClient | null {
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
  return createServerClient({ url: settings.apiUrl, key: settings.apiKey, signal });
}

/** The routes of the API in this process, with all rights in the data folder or database of the flags or the settings. */
export async function openLocalApi(shell: Shell, flags: BackendFlags, mayMake: boolean) {
  const place = dataPlaceOf(shell, flags.dataDir);
  // A command that only reads must not create a data folder.
  if (!mayMake) requireDatabase(place);
  const api = await shell.openCommandApi({
    settings: { ...readSettings(shell), ...place },
    account: flags.account,
    async openSql(store) {
      const { openLakeBeside } = await import('../folders/lake-folder.ts');
      return openLakeBeside(shell, flags.dataDir, { store });
    },
  });
  return { api, client: createApiClient((request) => sendWithin(api, request)) };
}

async function sendWithin(api: OpenCommandApi, request: ApiRequest): Promise<ApiAnswer> {
  const answer = await api.send(request);
  return {
    data: async () => ((await answer.json()) as { readonly data: unknown }).data,
    bytes: () => answer.bytes(),
  };
}

/** Runs an action on the server that the flags or settings name, else on the data folder. */
export async function withBackend<T>(
  shell: Shell,
  flags: BackendFlags,
  action: (backend: Backend) => Promise<T>,
  mayMake = false,
): Promise<T> {
  const client = apiClientOf(shell, flags);
  if (client !== null) {
    if (flags.account === undefined) return action(createApiBackend(client));
    throw new ScrapifieError(
      'INVALID_USAGE',
      '--account is for a data folder. On a server the API key decides whose account it is: give a key of that account.',
    );
  }
  const local = await openLocalApi(shell, flags, mayMake);
  try {
    return await action(createApiBackend(local.client, () => localExports(local.api)));
  } finally {
    await local.api.close();
  }
}

/** Options of the command line that a server decides by its own settings and policy. */
const OF_THE_OPERATOR = {
  allowPrivate: '--allow-private',
  rate: '--rate',
  replay: '--replay',
  warc: '--warc',
} as const;

/** Throws INVALID_USAGE for options that a request to a server cannot carry: they are not silently left out. */
export function refuseForServer(flags: object): void {
  for (const [name, flag] of Object.entries(OF_THE_OPERATOR)) {
    if ((flags as Record<string, unknown>)[name] === undefined) continue;
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${flag} cannot be asked of a server: its own settings and policy decide that. Leave it out, or work without --api.`,
    );
  }
}
