import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importChain } from './architecture/program-tests.ts';

/** What `make test FILE=…` has to install or build before it runs one test file. */
export interface Needs {
  /** Targets of the Makefile. */
  readonly targets: readonly ('servers' | 'clients' | 'browser' | 'dashboard')[];
  /** Folders with npm packages of their own, besides the root. */
  readonly folders: readonly string[];
  /** The project of vitest that runs the file, as a pattern. */
  readonly project: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * For each target, the modules that use what it installs, by their paths, and the names of test files that do without
 * importing it.
 */
const USERS: Readonly<Record<Needs['targets'][number], { modules: RegExp; tests: RegExp }>> = {
  servers: {
    modules: /^fleet\/servers\//,
    tests:
      /^test\/fleet\/|(?:store-postgres|search-postgres|queue-bullmq|bus-redis|limits-redis|blobs-s3|blobs-postgres|blobs-spill)/,
  },
  clients: { modules: /^sdk\/scenarios\//, tests: /^test\/(?:sdk|deploy)\// },
  browser: {
    modules: /^(?:playwright-core|patchright-core|src\/fetch\/browser\/pool\/find-browser\.ts)$/,
    tests: /^test\/(?:dashboard|docs|package)\//,
  },
  dashboard: { modules: /^dashboard\//, tests: /^(?:test\/(?:dashboard|docs|package|deploy)\/|dashboard\/)/ },
};

export function needsOf(file: string): Needs {
  const targets = (Object.keys(USERS) as Needs['targets'][number][]).filter((target) => {
    const { modules, tests } = USERS[target];
    return tests.test(file) || importChain(file, (path) => modules.test(path)) !== null;
  });
  const folders: string[] = [];
  for (let at = dirname(file); at !== '.'; at = dirname(at)) {
    if (existsSync(join(ROOT, at, 'package-lock.json'))) folders.push(at);
  }
  // Integration tests run on servers as well, but not by this.
  const project = targets.includes('servers') ? 'fleet' : 'embedded*';
  return { targets, folders, project };
}
