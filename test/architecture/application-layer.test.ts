import { describe, expect, it } from 'vitest';
import { readSources } from './sources.ts';

/** The parts of http/ that the command line may import, each for the commands that serve or speak a protocol. */
const OPEN_TO_COMMANDS: readonly string[] = [
  'http/dashboard/dashboard-files.ts',
  'http/health/readiness.ts',
  'http/health/system-parts.ts',
  'http/mcp/api-call.ts',
  'http/mcp/mcp-server.ts',
  'http/mcp/message-lines.ts',
  'http/mcp/tools/tool-choice.ts',
  'http/routes/sample.ts',
  'http/server/call-within.ts',
  'http/server/second-listener.ts',
];
/** What the API hands to the APIs of other shapes. */
const OPEN_TO_DIALECTS: readonly string[] = ['http/routes/route-deps.ts'];
/** Folders of the API whose parts are for the API alone. */
const OF_THE_API = /^http\/(?:routes|access|views)\//;

const ONE_PLACE = ['wiring/open-capabilities.ts'];
/** Where each capability is built. Those with more places than one say why. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  createAccountAdmin: ONE_PLACE,
  // An export is written in a thread of its own.
  createComparisons: [...ONE_PLACE, 'capabilities/exports/sources/open-table.ts'],
  // The crawl waits for a store that is away, may use the sessions of another place, and asks a service for credentials.
  createCredentials: [...ONE_PLACE, 'wiring/open-accounts.ts'],
  createSessions: [...ONE_PLACE, 'wiring/open-accounts.ts'],
  createCreditAdmin: ONE_PLACE,
  createExports: ONE_PLACE,
  createKeyAdmin: ONE_PLACE,
  createMonitors: ONE_PLACE,
  createPageContents: ONE_PLACE,
  createQueries: ONE_PLACE,
  createRetentionAdmin: ONE_PLACE,
  createSchedules: ONE_PLACE,
  createSearches: ONE_PLACE,
  createWebhooks: ONE_PLACE,
  // A data folder without a key gets one when something is sealed.
  openVault: ['wiring/open-accounts.ts', 'capabilities/sessions/vault.ts'],
  openVaultLater: ['wiring/open-command-api.ts'],
};

const sources = readSources();

/** What the files of a folder import of http/, in the order of the alphabet. */
function importedFrom(folder: string, isMeant: (target: string) => boolean): readonly string[] {
  const targets = sources
    .filter(({ path }) => path.startsWith(folder))
    .flatMap(({ imports }) => imports.filter(({ isOwn }) => isOwn).map(({ target }) => target));
  return [...new Set(targets.filter(isMeant))].sort();
}

describe('use cases belong to the capabilities', () => {
  it('so commands import of http/ what is named here, and all of that', () => {
    expect(importedFrom('cli/', (target) => target.startsWith('http/'))).toEqual([...OPEN_TO_COMMANDS]);
  });

  it.each(Object.entries(BUILT_IN))('so %s is called in one place', (build, places) => {
    const call = new RegExp(`(?<!function )\\b${build}\\(`);
    const callers = sources.filter(({ text }) => call.test(text)).map(({ path }) => path);
    expect(callers.sort()).toEqual([...places].sort());
  });

  it('so dialects import of the API what is named here, and all of that', () => {
    expect(importedFrom('http/compat/', (target) => OF_THE_API.test(target))).toEqual([...OPEN_TO_DIALECTS]);
  });
});
