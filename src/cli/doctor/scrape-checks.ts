import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { scrapeRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import type { Settings } from '../../core/config/settings.ts';
import { listen } from '../../core/errors/guarded.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { createLogger } from '../../core/observe/logger.ts';
import { createMetrics } from '../../core/observe/metrics.ts';
import { findBrowser } from '../../fetch/browser/pool/find-browser.ts';
import { refusalOf } from '../../fetch/render-process/confinement.ts';
import { ALONE, makeTemporaryFolder, OPERATOR } from '../folders/one-off.ts';
import type { Shell } from '../shell/shell.ts';
import { howToInstall } from './doctor-install.ts';
import { type Check, type Finding, failure, failureOf, fine, type Patient, warning } from './finding.ts';

const SCRAPE_MS = 60_000;
const PLAIN_TEXT = 'This page was served.';
const SCRIPTED_TEXT = 'This page was rendered.';
const PAGE = `<!doctype html><title>Doctor</title><p id="said">${PLAIN_TEXT}</p>
<script>document.getElementById('said').textContent = ['This', 'page', 'was', 'rendered.'].join(' ')</script>`;

/** A page of this process through the whole chain: job, queue, gate, fetch, reading, store; by plain HTTP and by a browser. */
export const SCRAPE_CHECKS = {
  async browser({ shell, settings: { browserPath, remoteBrowserUrl, role } }) {
    const found = await findBrowser({ executable: browserPath ?? null, env: shell.environment });
    if (found !== null) return fine(`${found.path}, ${found.version}`);
    // Plain HTTP needs none; a worker that renders is nothing without.
    const isNeeded =
      role === 'browser-worker' || (role === 'stealth-worker' && remoteBrowserUrl === undefined);
    const advice = `run \`scrapifie doctor --install\`. Or by hand: ${howToInstall()}`;
    return (isNeeded ? failure : warning)('none: pages are fetched, and not rendered', advice);
  },

  async 'browser sandbox'({ shell, settings }) {
    const { browserPath, unconfinedBrowsers } = settings;
    const browser = await findBrowser({ executable: browserPath ?? null, env: shell.environment });
    if (browser === null) return fine('no browser');
    const confinement = await shell.confineBrowsers(browser.path, settings);
    const { user, prefix, weaknesses } = confinement;
    if (weaknesses.length === 0) {
      const who = user === null ? '' : `, browsers run as ${user.name}`;
      return fine(`on${who}${prefix.length === 0 ? '' : ', browsers see no data folder and no secrets'}`);
    }
    const whats = weaknesses.map(({ what }) => what).join('; ');
    const remedies = weaknesses.map(({ remedy }) => remedy).join('; ');
    if (refusalOf(confinement) === null) return warning(whats, remedies);
    return unconfinedBrowsers
      ? warning(`${whats}; pages are rendered all the same (SCRAPIFIE_UNCONFINED_BROWSERS)`, remedies)
      : warning(
          `${whats}; so pages are not rendered`,
          `${remedies}; or consent by SCRAPIFIE_UNCONFINED_BROWSERS=true`,
        );
  },

  async 'a scrape'(patient) {
    const startedAt = performance.now();
    return scraped(patient, 'http', async (text) => {
      const ms = Math.round(performance.now() - startedAt);
      if (text.includes(PLAIN_TEXT))
        return fine(`a page of this process was fetched, read and stored in ${ms} ms`);
      return failure(`the page came back as “${text.slice(0, 80)}”`, 'report this as a bug');
    });
  },

  async 'a rendered scrape'(patient) {
    const { shell, settings } = patient;
    const browser = await findBrowser({ executable: settings.browserPath ?? null, env: shell.environment });
    if (browser === null) return fine('no browser');
    const startedAt = performance.now();
    return scraped(patient, 'browser', async (text) => {
      const ms = Math.round(performance.now() - startedAt);
      if (text.includes(SCRIPTED_TEXT))
        return fine(`a page of this process was shown, its script run, in ${ms} ms`);
      return failure(
        `the script of the page did not run: “${text.slice(0, 80)}”`,
        'name another browser in SCRAPIFIE_BROWSER_PATH, or run `scrapifie doctor --install`',
      );
    });
  },
} as const satisfies Readonly<Record<string, Check>>;

const ADVICE: Readonly<Record<'http' | 'browser', string>> = {
  http: 'see docs/errors.md for the code, and run it again with SCRAPIFIE_LOG_LEVEL=debug',
  browser:
    'start that browser by hand with --headless --dump-dom about:blank to see what is missing; docs/browsers.md has the usual reasons',
};

async function scraped(
  { shell, settings }: Patient,
  engine: 'http' | 'browser',
  judge: (text: string) => Promise<Finding>,
): Promise<Finding> {
  const server = createServer();
  listen(server, 'request', (request: IncomingMessage, response: ServerResponse) => {
    const isPage = request.url === '/';
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(isPage ? PAGE : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    return await judge(await textOf(shell, settings, `http://127.0.0.1:${port}/`, engine));
  } catch (error) {
    if (isScrapifieError(error) && error.code === 'BROWSER_UNCONFINED')
      return warning('not tried: browsers cannot be confined', 'see “browser sandbox”');
    const isMissing = isScrapifieError(error) && error.code === 'NO_BROWSER';
    return failureOf(error, isMissing ? 'run `scrapifie doctor --install`' : ADVICE[engine]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** In a folder and a process of its own: nothing of the installation is touched. */
async function textOf(
  shell: Shell,
  settings: Settings,
  url: string,
  engine: 'http' | 'browser',
): Promise<string> {
  const dataDir = await makeTemporaryFolder(shell);
  // What the operator has set for sites does not belong to this page: proxies, archives, plug-ins, policies.
  const own = {
    dataDir,
    drainMs: 0,
    allowPrivate: true,
    proxies: '',
    plugins: '',
    backupTo: undefined,
    lake: undefined,
  };
  const others = {
    proxyFile: undefined,
    replay: undefined,
    policyFile: undefined,
    smtpUrl: undefined,
    llmUrl: undefined,
  };
  const platform = await shell.openPlatform({
    settings: { ...settings, ...ALONE, ...own, ...others },
    writesExports: false,
    logger: createLogger({ level: 'silent' }),
    metrics: createMetrics({ withProcess: false }),
  });
  try {
    await platform.start();
    const request = parseRequest(scrapeRequestSchema, {
      url,
      engine,
      formats: ['text'],
      timeoutMs: SCRAPE_MS,
    });
    const { text } = await platform.jobs.scrapeNow(request, await platform.store.defaultAccount(), {
      operator: OPERATOR,
    });
    return text ?? '';
  } finally {
    await platform.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
