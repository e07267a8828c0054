import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Option } from 'commander';
import type { FastifyInstance } from 'fastify';
import { applyPlans } from '../../capabilities/accounts/accounts.ts';
import { ensureFirstKey } from '../../capabilities/accounts/api-key.ts';
import { makeSignInLink } from '../../capabilities/accounts/sign-ins.ts';
import { isLoopback } from '../../core/config/field-types.ts';
import { noteDataFolder } from '../../core/config/folder-trust.ts';
import { settingSources } from '../../core/config/load.ts';
import { LEAST_OPEN_FILES, openFileLimit, RAISE_OPEN_FILES } from '../../core/config/open-files.ts';
import { readPlans } from '../../core/config/plans-and-prices.ts';
import { settingsSecretsOf } from '../../core/config/secrets.ts';
import type { SettingSource } from '../../core/config/setting-list.ts';
import { drainNoticeOf, ROLES, type Role, type Settings } from '../../core/config/settings.ts';
import { guarded } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { createLogRing } from '../../core/observe/log-sink.ts';
import { createLogger } from '../../core/observe/logger.ts';
import { createActivity, watchLoop } from '../../core/observe/loop-watch.ts';
import { createMetrics } from '../../core/observe/metrics.ts';
import { activeSpanIds, sampledSpanIds } from '../../core/tracing/tracing.ts';
import { createDashboardFiles, DASHBOARD_DIR } from '../../http/dashboard/dashboard-files.ts';
import { SAMPLE_PATH, SAMPLE_PATHS } from '../../http/routes/sample.ts';
import { cannotListen } from '../../http/server/second-listener.ts';
import { type CheckName, examine, TRIAL_SCRAPES } from '../doctor/doctor-checks.ts';
import { portNumber } from '../flags/flag-values.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { DATABASE_FILE } from '../folders/crawl-folder.ts';
import { recordStart, type ToldSecret, tellSecret, warnOfFoundFolder } from '../folders/start-records.ts';
import { helpBelow } from '../output/help.ts';
import { logFormatOf, outputWritten } from '../output/screen.ts';
import { closeWithin, watchFaults, watchInterrupts } from '../shell/interrupt.ts';
import type { DefineCommand, OpenPlatform, Shell } from '../shell/shell.ts';

interface ServeFlags {
  readonly role?: Role;
  readonly port?: number;
  readonly host?: string;
  readonly dataDir?: string;
  readonly policyFile?: string;
  readonly allowPrivate?: true;
}

/** Connections that may wait to be accepted: a burst of clients should find a place. */
const LISTEN_BACKLOG = 4_096;
/** Beyond the time for draining: to abort what outlasts it, and to close the connections to servers. */
const CLOSE_MS = 8_000;

/** What the running server uses itself: readiness tells of it. */
const OWN_CHECKS: ReadonlySet<CheckName> = new Set([
  ...(['database', 'redis', 'object store', 'port'] as const),
  ...TRIAL_SCRAPES,
]);

const EXAMPLES = `
The first start makes an API key. A terminal shows it, once; without a terminal it is written to the file "api-key" in the
data folder. SIGTERM, Ctrl-C and a closed terminal stop cleanly: work under way is finished for up to SCRAPIFIE_DRAIN_MS,
and everything else goes on at the next start. The second signal ends it at once.

Examples:
  scrapifie serve
  scrapifie serve --port 4000 --host 0.0.0.0 --data-dir /var/lib/scrapifie
  scrapifie serve --role http-worker     one part of a fleet; see docs/scaling.md`;

export const define: DefineCommand = (command, shell) => {
  command
    .addOption(
      new Option(
        '--role <role>',
        'what this process does: one part of a fleet, or all of it (default: all)',
      ).choices(ROLES),
    )
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 3000)', portNumber)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--data-dir <dir>', 'folder for the database and the stored bodies (default: ./data)')
    .option('--policy-file <file>', 'YAML file with domain policies')
    .addOption(FLAGS.allowPrivate())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (flags: ServeFlags) => {
      const { role, port, host, dataDir, policyFile, allowPrivate } = flags;
      const overrides = { role, port, host, dataDir, policyFile, allowPrivate };
      const settings = readSettings(shell, overrides, { isServing: true });
      refuseFewFiles();
      const sources = settingSources(shell.environment, { cwd: shell.cwd, overrides });
      await serve(shell, settings, sources);
    });
};

/** A server that cannot open what it needs would fail at its work, a little here and there. Throws OUT_OF_FILES. */
function refuseFewFiles(): void {
  const limit = openFileLimit();
  if (limit === null || limit >= LEAST_OPEN_FILES) return;
  throw new ScrapifieError(
    'OUT_OF_FILES',
    `The limit of open files is ${limit}, and a server needs ${LEAST_OPEN_FILES} at least. ${RAISE_OPEN_FILES}`,
  );
}

async function serve(
  shell: Shell,
  settings: Settings,
  sources: ReadonlyMap<string, SettingSource>,
): Promise<void> {
  const log = createLogRing();
  const logger = createLogger({
    level: settings.logLevel,
    role: settings.role,
    ...logFormatOf(shell, settings),
    secrets: settingsSecretsOf(settings),
    ring: log,
    ...(settings.otelUrl === undefined ? {} : { traceIds: activeSpanIds }),
  });
  const interrupts = watchInterrupts();
  const { metricsHosts: hosts } = settings;
  const metrics = createMetrics({ withProcess: true, hosts, traceOf: sampledSpanIds });
  let ownPages: readonly string[] = [];
  const isFound = !sources.has('dataDir') && settings.databaseUrl === undefined;
  const isFoundFull = isFound && existsSync(join(settings.dataDir, DATABASE_FILE));
  const platform = await shell.openPlatform({ settings, logger, metrics, ownPages: () => ownPages });
  const faults = watchFaults({ logger, count: metrics.faulted });
  const stop = AbortSignal.any([interrupts.signal, faults.signal]);
  const activity = createActivity();
  const loop = watchLoop({
    onDelay: metrics.loopDelayed,
    onBlocked(delayMs, cpuMs) {
      const known = { ...platform.load(), requests: activity.underWay(), lastRequests: activity.recent() };
      logger.warn({ delayMs, cpuMs, ...known }, 'the event loop was blocked');
    },
  });
  let api: FastifyInstance | null = null;
  let second: Awaited<ReturnType<Shell['listenBeside']>> = null;
  try {
    const { store, now, duties } = platform;
    const isKnown = !isFound || noteDataFolder(settings.dataDir, shell.environment);
    if (isFoundFull && !isKnown) await warnOfFoundFolder(store, settings.dataDir, logger);
    const doctor = () => examine({ shell, settings }, OWN_CHECKS);
    const system = { log, sources, doctor };
    const isStopping = () => stop.aborted;
    const { version } = shell;
    api = await shell.openApi(platform, { version, logger, metrics, activity, system, isStopping });
    if (duties.api) await applyPlans(store, readPlans(settings.plans) ?? {});
    // A caller that knows the key of the settings may come with the first request.
    if (duties.api && settings.apiKey !== undefined) await ensureFirstKey(store, settings, now());
    const origin = await listen(api, settings);
    if (duties.api) second = await shell.listenBeside(api, platform.settings, metrics);
    // A server whose start cannot be recorded goes on: what it does is recorded on its own.
    await recordStart(store, settings, { version: shell.version, origin, at: now() }).catch((error) =>
      logger.warn({ err: error }, 'the start was not recorded in the audit log'),
    );
    ownPages = SAMPLE_PATHS.map((path) => new URL(path, origin).href);
    await platform.start();
    platform.lookForBrowsers();
    if (duties.api) {
      const place = {
        isTerminal: shell.stdout.isTTY === true,
        dataDir: resolve(shell.cwd, settings.dataDir),
        logger,
      };
      const key = await keyFor(platform, settings, place);
      const isInShell = (shell.environment.SCRAPIFIE_API_KEY ?? '') !== '';
      const firecrawlOrigin = second === null ? null : origin.replace(/\d+$/, String(second.port));
      const dashboard = await dashboardLine(platform, api, origin, place);
      const told = { origin, firecrawlOrigin, dashboard, settings, version: shell.version, key, isInShell };
      shell.stdout.write(welcome(told));
      await outputWritten(shell.stdout);
    }
    if (settings.contact === undefined) {
      logger.warn(
        'SCRAPIFIE_CONTACT is not set: site owners who see the crawler cannot reach you; set it to a URL or an e-mail address',
      );
    }
    logger.info({ origin, version: shell.version }, 'ready');
    await aborted(stop);
    const noticeMs = drainNoticeOf(settings);
    logger.info({ noticeMs, drainMs: settings.drainMs }, 'stopping');
    // Balancers that ask `/readyz` send requests elsewhere before this process begins to refuse them.
    if (api !== null) await delay(noticeMs);
  } finally {
    loop.close();
    await closeWithin(settings.drainMs + CLOSE_MS, closeAll(api, second, platform, settings.drainMs));
    interrupts.close();
    faults.close();
  }
  logger.info('stopped');
  // The exit code then tells a supervisor to start the server again.
  faults.signal.throwIfAborted();
}

type TellPlace = Parameters<typeof tellSecret>[2];

/** Listens first: a key created by a start that fails would never be printed. */
async function keyFor({ store, now }: OpenPlatform, settings: Settings, place: TellPlace): Promise<ShownKey> {
  const made: ToldSecret[] = [];
  await ensureFirstKey(store, settings, now(), async (secret) => {
    made.push(await tellSecret('api-key', secret, place));
  });
  const [told] = made;
  if (told !== undefined) return { kind: 'new', told };
  return { kind: settings.apiKey === undefined ? 'earlier' : 'settings' };
}

/**
 * Where the dashboard is; null without one. On an installation of one process that only this machine can reach, the
 * address signs in by itself. Elsewhere the address would sign in every reader of the log.
 */
async function dashboardLine(
  { store, settings }: OpenPlatform,
  api: FastifyInstance,
  origin: string,
  place: TellPlace,
): Promise<string | null> {
  if (!settings.dashboard) return null;
  if (!(await createDashboardFiles(DASHBOARD_DIR).isBuilt())) return 'not built; see docs/dashboard.md';
  const { address } = api.server.address() as AddressInfo;
  const isAlone = settings.databaseUrl === undefined && isLoopback(address);
  if (!isAlone) return `${origin}  (sign in with an API key)`;
  const link = await makeSignInLink(store, await store.defaultAccount(), origin);
  const { file } = await tellSecret('sign-in-link', link, place);
  const how = 'signs in once, within an hour; `scrapifie dashboard` makes another';
  return file === null ? `${link}  (${how})` : `${origin}  (the link in ${file} ${how})`;
}

/**
 * The API finishes its requests and the platform its pages at the same time, with one deadline. What both need (the
 * store, the queue) is closed after them.
 */
async function closeAll(
  api: FastifyInstance | null,
  second: Awaited<ReturnType<Shell['listenBeside']>>,
  platform: OpenPlatform,
  drainMs: number,
): Promise<void> {
  const drained = await Promise.allSettled([second?.close(drainMs), api?.close(), platform.drain()]);
  await platform.close();
  for (const each of drained) if (each.status === 'rejected') throw each.reason;
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener(
      'abort',
      guarded(() => resolve()),
      { once: true },
    );
  });

/** The address under which this machine reaches the server. */
async function listen(api: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    await api.listen({ host, port, backlog: LISTEN_BACKLOG });
  } catch (error) {
    throw cannotListen(error, { host, port, other: `--port ${port + 1} or SCRAPIFIE_PORT` });
  }
  const { address, port: actual } = api.server.address() as AddressInfo;
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${actual}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${actual}`;
}

/** Which key to show: one just made, or where the one in use came from. */
type ShownKey =
  | { readonly kind: 'new'; readonly told: ToldSecret }
  | { readonly kind: 'earlier' | 'settings' };

interface Welcome {
  readonly origin: string;
  /** Origin of the Firecrawl-compatible API; null when it has no port of its own. */
  readonly firecrawlOrigin: string | null;
  /** Address of the dashboard; null when the server has none. */
  readonly dashboard: string | null;
  readonly settings: Pick<Settings, 'dataDir'>;
  readonly version: string;
  readonly key: ShownKey;
  /** SCRAPIFIE_API_KEY is a variable of the shell that started the server, and not of a file that it has read. */
  readonly isInShell: boolean;
}

/** The text that the server prints when it is ready. The command in it works as printed, or says what to put in. */
function welcome({ origin, firecrawlOrigin, dashboard, settings, version, key, isInShell }: Welcome): string {
  const secret = secretFor(key, isInShell);
  const rows = [
    `Scrapifie ${version} is ready.`,
    '',
    ...(dashboard === null ? [] : [`  Dashboard  ${dashboard}`]),
    `  API        ${origin}`,
    `  Help       ${origin}/help`,
    `  Docs       ${origin}/docs`,
    ...(firecrawlOrigin === null ? [] : [`  Firecrawl-compatible API at ${firecrawlOrigin}`]),
    `  Data       ${settings.dataDir}`,
    `  API key    ${keyLine(key)}`,
    '',
    secret === null ? `Try it, with your API key in place of ${PLACEHOLDER}:` : 'Try it:',
    '',
    `  ${curlLine(origin, secret ?? PLACEHOLDER)}`,
    '',
  ];
  return `${rows.join('\n')}\n`;
}

function keyLine(key: ShownKey): string {
  if (key.kind === 'new') {
    const { file, secret } = key.told;
    return file === null
      ? `${secret}  (shown this once; only its hash is kept)`
      : `in ${file}, which only its owner can read; delete it when you have put the key elsewhere`;
  }
  if (key.kind === 'settings') return 'the one in SCRAPIFIE_API_KEY';
  return 'made by an earlier start; `scrapifie keys create NAME` makes another';
}

const PLACEHOLDER = 'YOUR_API_KEY';

/** What stands for the key in a command that works as it is printed; null: only the caller has it. */
function secretFor(key: ShownKey, isInShell: boolean): string | null {
  if (key.kind === 'new') return key.told.file === null ? key.told.secret : `$(cat ${quoted(key.told.file)})`;
  return key.kind === 'settings' && isInShell ? '$SCRAPIFIE_API_KEY' : null;
}

/** A path as one word of a shell. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

function curlLine(origin: string, secret: string): string {
  const body = JSON.stringify({ url: `${origin}${SAMPLE_PATH}` });
  return `curl -s ${origin}/v1/scrape -H "Authorization: Bearer ${secret}" -H 'Content-Type: application/json' -d '${body}'`;
}
