import { describe, expect, it } from 'vitest';
import { readSources } from './sources.ts';

/** The parts of http/ that the command line may import, each for the commands that serve or speak a protocol. */
const OPEN_TO_COMMANDS: readonly string[] = [
  'http/api.ts',
  'http/compat/firecrawl/firecrawl-api.ts',
  'http/compat/firecrawl/firecrawl-port.ts',
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
  'http/server/cannot-listen.ts',
  'http/server/second-listener.ts',
];
/** What the API hands to the APIs of other shapes. */
const OPEN_TO_DIALECTS: readonly string[] = ['http/routes/route-deps.ts'];
/** Folders of the API whose parts are for the API alone. */
const OF_THE_API = /^http\/(?:routes|access|views)\//;

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

  it('so dialects import of the API what is named here, and all of that', () => {
    expect(importedFrom('http/compat/', (target) => OF_THE_API.test(target))).toEqual([...OPEN_TO_DIALECTS]);
  });
});
