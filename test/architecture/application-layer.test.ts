import { describe, expect, it } from 'vitest';
import { readSources } from './sources.ts';

/** The parts of http/ that the command line may import, each for the commands that serve or speak a protocol. */
const OPEN_TO_COMMANDS: readonly string[] = [
  'http/api.ts',
  'http/compat/firecrawl/firecrawl-api.ts',
  'http/compat/firecrawl/watch-job.ts',
  'http/dashboard/dashboard-files.ts',
  'http/health/readiness.ts',
  'http/health/system-parts.ts',
  'http/mcp/api-call.ts',
  'http/mcp/mcp-server.ts',
  'http/mcp/message-lines.ts',
  'http/mcp/tools/tool-choice.ts',
  'http/routes/query.ts',
  'http/routes/sample.ts',
  'http/routes/usage.ts',
  'http/samples/bookshop.ts',
  'http/server/call-within.ts',
  'http/server/second-listener.ts',
];
/** What the API hands to the APIs of other shapes. */
const OPEN_TO_DIALECTS: readonly string[] = ['http/routes/route-deps.ts'];
/** Folders of the API whose parts are for the API alone. */
const OF_THE_API = /^http\/(?:routes|access|views)\//;

/** Where each capability is built. Those with more places than one say why. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  createAccountAdmin: ['wiring/open-capabilities.ts', 'cli/backend/account-backend.ts'],
  // An export is written in a thread of its own.
  createComparisons: [
    'wiring/open-capabilities.ts',
    'capabilities/exports/sources/open-table.ts',
    'cli/backend/history-backend.ts',
    'cli/backend/local-backend.ts',
  ],
  createCredentials: [
    'wiring/open-capabilities.ts',
    'wiring/open-accounts.ts',
    'cli/backend/local-backend.ts',
  ],
  createCreditAdmin: ['wiring/open-capabilities.ts', 'cli/backend/terms-backend.ts'],
  createExports: ['wiring/open-capabilities.ts', 'cli/backend/export-backend.ts'],
  createMonitors: ['wiring/open-capabilities.ts', 'cli/backend/local-backend.ts'],
  createPageContents: ['wiring/open-capabilities.ts'],
  createQueries: ['wiring/open-capabilities.ts', 'cli/backend/local-backend.ts'],
  createRetentionAdmin: ['wiring/open-capabilities.ts', 'cli/backend/terms-backend.ts'],
  createSchedules: ['wiring/open-capabilities.ts', 'cli/backend/local-backend.ts'],
  createSearches: ['wiring/open-capabilities.ts', 'cli/backend/local-backend.ts'],
  // The crawl waits for a store that is away, and may use the sessions of another place.
  createSessions: ['wiring/open-capabilities.ts', 'wiring/open-accounts.ts', 'cli/backend/local-backend.ts'],
  createWebhooks: [
    'wiring/open-capabilities.ts',
    'cli/backend/local-backend.ts',
    'cli/backend/local-webhooks.ts',
  ],
  openVault: ['wiring/platform.ts', 'cli/backend/local-backend.ts'],
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
