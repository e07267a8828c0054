import { constants, existsSync } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import { findBrowser } from '../../fetch/browser/pool/find-browser.ts';
import { describeBytes } from '../../model/human-units.ts';
import { parseProxyFile } from '../../plan/proxies/proxy-file.ts';
import { loadPolicyFile } from '../../policy/policy-file.ts';
import { DATABASE_FILE } from '../folders/crawl-folder.ts';
import { describePlace } from '../folders/data-folder.ts';
import type { Shell } from '../shell/shell.ts';
import { howToInstall } from './doctor-install.ts';

export interface Finding {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

export interface Patient {
  readonly shell: Shell;
  readonly settings: Settings;
}

const LEAST_NODE = 24;
const LOW_DISK_BYTES = 1_000_000_000;
const LEAST_DISK_BYTES = 50_000_000;
const NOTICED_SKEW_MS = 2_000;
const FEW_FILES = 4_096;
const LEAST_FILES = 512;

/** In the order they are shown. None of them changes anything; what one throws is what it found. */
const DOCTOR_CHECKS: Readonly<Record<string, (patient: Patient) => Promise<Finding>>> = {
  async 'Node.js'() {
    const major = Number(process.versions.node.split('.')[0]);
    if (major >= LEAST_NODE) return { state: 'ok', found: process.version };
    return { state: 'fail', found: process.version, advice: `install Node.js ${LEAST_NODE} or newer` };
  },

  async 'data folder'({ settings: { dataDir } }) {
    const existing = nearestFolder(dataDir);
    if (!(await stat(existing)).isDirectory()) {
      return {
        state: 'fail',
        found: `${existing} is not a folder`,
        advice: 'name another one with --data-dir',
      };
    }
    try {
      await access(existing, constants.W_OK | constants.X_OK);
    } catch {
      return {
        state: 'fail',
        found: `${existing} cannot be written`,
        advice: 'change its owner or its mode',
      };
    }
    return { state: 'ok', found: existing === dataDir ? dataDir : `${dataDir} will be made` };
  },

  async 'disk space'({ settings: { dataDir } }) {
    const { bavail, bsize } = await statfs(nearestFolder(dataDir));
    const free = bavail * bsize;
    const found = `${describeBytes(free)} free`;
    if (free >= LOW_DISK_BYTES) return { state: 'ok', found };
    const advice = 'make room, or put the data folder on another disk';
    return { state: free >= LEAST_DISK_BYTES ? 'warn' : 'fail', found, advice };
  },

  async database({ shell, settings }) {
    const { dataDir, databaseUrl } = settings;
    if (databaseUrl === undefined && !existsSync(join(dataDir, DATABASE_FILE)))
      return { state: 'ok', found: 'none yet' };
    const storage = await shell.openStorage(settings);
    try {
      await storage.store.check();
      await storage.blobs.check();
      const { to } = await storage.store.migrate();
      const open = await storage.store.countOpenTasks();
      const skewMs = (await storage.store.clock()) - Date.now();
      const found = `${describePlace(settings)}, schema ${to}, ${open} URLs waiting`;
      if (Math.abs(skewMs) < NOTICED_SKEW_MS) return { state: 'ok', found };
      const advice = `this machine's clock differs from the database's by ${Math.round(skewMs / 1_000)} s: set it right`;
      return { state: 'warn', found, advice };
    } finally {
      await storage.close();
    }
  },

  async redis({ shell, settings: { redisUrl } }) {
    if (redisUrl === undefined) return { state: 'ok', found: 'not used' };
    await shell.checkRedis(redisUrl);
    return { state: 'ok', found: new URL(redisUrl).host };
  },

  async 'policy file'({ shell, settings: { policyFile } }) {
    const path = policyFile ?? (await shell.shippedPolicy());
    const { file } = loadPolicyFile(path);
    return { state: 'ok', found: `${path}, ${file.domains.size} domains` };
  },

  async 'proxy file'({ settings: { proxyFile } }) {
    if (proxyFile === undefined) return { state: 'ok', found: 'not used' };
    const text = await readFile(proxyFile, 'utf8').catch((error: Error) => {
      throw new ScrapifieError('INVALID_PROXY_FILE', `${proxyFile} cannot be read: ${error.message}`);
    });
    const { providers } = parseProxyFile(text, proxyFile);
    return { state: 'ok', found: `${proxyFile}, ${providers.length} providers` };
  },

  async browser({ shell, settings: { browserPath, remoteBrowserUrl, role } }) {
    const found = await findBrowser({ executable: browserPath ?? null, env: shell.environment });
    if (found !== null) return { state: 'ok', found: `${found.path}, ${found.version}` };
    // Plain HTTP needs none; a worker that renders is nothing without.
    const isNeeded =
      role === 'browser-worker' || (role === 'stealth-worker' && remoteBrowserUrl === undefined);
    const state = isNeeded ? 'fail' : 'warn';
    const advice = `run \`scrapifie doctor --install\`. Or by hand: ${howToInstall()}`;
    return { state, found: 'none: pages are fetched, and not rendered', advice };
  },

  async 'browser sandbox'({ shell, settings: { browserPath } }) {
    const browser = await findBrowser({ executable: browserPath ?? null, env: shell.environment });
    if (browser === null) return { state: 'ok', found: 'no browser' };
    const { user, weaknesses } = await shell.confineBrowsers(browser.path);
    const [first] = weaknesses;
    if (first === undefined) {
      return { state: 'ok', found: user === null ? 'on' : `on, browsers run as ${user.name}` };
    }
    const all = weaknesses.map((weakness) => weakness.split(': ')[0]);
    return { state: 'warn', found: all.join('; '), advice: first.slice(first.indexOf(': ') + 2) };
  },

  async port({ settings: { host, port } }) {
    const code = await tryToListen(host, port);
    if (code === null) return { state: 'ok', found: `${host}:${port} is free` };
    if (code !== 'EADDRINUSE') {
      return {
        state: 'fail',
        found: `${host}:${port} cannot be used (${code})`,
        advice: 'choose another --host or --port',
      };
    }
    if (await isScrapifie(host, port))
      return { state: 'ok', found: `${host}:${port} is served by Scrapifie` };
    return {
      state: 'fail',
      found: `${host}:${port} is taken`,
      advice: 'stop that program, or choose another --port',
    };
  },

  async contact({ settings: { contact } }) {
    if (contact !== undefined) return { state: 'ok', found: contact };
    const advice = 'set SCRAPIFIE_CONTACT to a URL or an e-mail address, so that site owners can reach you';
    return { state: 'warn', found: 'not set', advice };
  },

  async 'open files'({ settings: { maxConcurrency } }) {
    const limit = openFileLimit();
    if (limit === null) return { state: 'ok', found: 'no limit' };
    const found = `limit ${limit}`;
    if (limit >= Math.max(FEW_FILES, maxConcurrency * 2)) return { state: 'ok', found };
    return { state: limit >= LEAST_FILES ? 'warn' : 'fail', found, advice: 'raise it: ulimit -n 65536' };
  },
};

/** What the checks find, in their order; those of `except` are left out. */
export async function examine(
  patient: Patient,
  except: ReadonlySet<string> = new Set(),
): Promise<readonly (Finding & { readonly check: string })[]> {
  const findings: (Finding & { readonly check: string })[] = [];
  for (const [check, look] of Object.entries(DOCTOR_CHECKS)) {
    if (except.has(check)) continue;
    const found = await look(patient).catch((error: unknown) => broken(error));
    findings.push({ check, ...found });
  }
  return findings;
}

function broken(error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  if (!isScrapifieError(error)) return { state: 'fail', found: message };
  return { state: 'fail', found: `${error.code}: ${message}`, advice: error.spec.meaning };
}

/** The folder itself, or the nearest one above it that is there. */
function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The code of the error, or null when it worked. */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

async function isScrapifie(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const name = reachable.includes(':') ? `[${reachable}]` : reachable;
  try {
    const answer = await fetch(`http://${name}:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
    const { data } = (await answer.json()) as { data?: { status?: unknown; version?: unknown } };
    return data?.status === 'ok' && typeof data.version === 'string';
  } catch {
    return false;
  }
}

/** Null where there is none, or where the system does not say. */
function openFileLimit(): number | null {
  if (process.report === undefined) return null;
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | string } };
  };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : null;
}
