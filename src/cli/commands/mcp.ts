import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  hashSecret,
  isUsable,
  MOST_RATE_PER_MINUTE,
  newKey,
  newSecret,
  prefixOf,
} from '../../capabilities/accounts/api-key.ts';
import { fileOf } from '../../capabilities/exports/export-file.ts';
import { settingsSecretsOf } from '../../core/config/secrets.ts';
import { guarded } from '../../core/errors/guarded.ts';
import type { ExportId } from '../../core/model/ids.ts';
import { createLogger } from '../../core/observe/logger.ts';
import { createMetrics } from '../../core/observe/metrics.ts';
import { type ApiCall, pathWithQuery } from '../../http/mcp/api-call.ts';
import type { McpServerOptions } from '../../http/mcp/mcp-server.ts';
import { callWithin } from '../../http/server/call-within.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import type { ServerClient } from '../backend/server-client.ts';
import { list } from '../flags/flag-values.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { ALONE } from '../folders/one-off.ts';
import { helpBelow } from '../output/help.ts';
import { logFormatOf } from '../output/screen.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { DefineCommand, OpenPlatform, Shell } from '../shell/shell.ts';

interface McpFlags extends BackendFlags {
  readonly tools?: string[];
  readonly allowPrivate?: true;
}

/** Assistants end a program soon after they have closed its input. Jobs that are open by then go on at the next start. */
const DRAIN_MS = 1_000;
/** The key with which the tools call the API within the process. */
const KEY_NAME = 'mcp';

const EXAMPLES = `
Serves the Model Context Protocol on standard input and output, for assistants that start a program. It works by itself, in
the folder "mcp" of the data folder or in that of --data-dir, or calls the API of a server: then scopes, limits and credits
of the key apply. Crawls that are not finished when the assistant ends go on at the next start. A server itself serves the
protocol at /mcp.

--tools names tools and groups: default, jobs, exports, monitors, schedules, queries, history, all.

Examples:
  scrapifie mcp
  scrapifie mcp --data-dir ~/.scrapifie --tools default,monitors
  scrapifie mcp --api http://127.0.0.1:3000 --api-key sk_… --tools scrape,search
  SCRAPIFIE_API_URL=http://127.0.0.1:3000 SCRAPIFIE_API_KEY=sk_… scrapifie mcp`;

export const define: DefineCommand = (command, shell) => {
  command
    .option('--tools <names>', 'tools and groups to offer, with commas (default: default)', list)
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.allowPrivate())
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (flags: McpFlags) => {
      const { toolsNamed } = await import('../../http/mcp/tools/tool-choice.ts');
      const tools = toolsNamed(flags.tools ?? ['default'], 'INVALID_USAGE');
      const client = apiClientOf(shell, flags);
      if (client !== null) await serve(shell, callOver(client), { tools });
      else await serveAlone(shell, flags, tools);
    });
};

const callOver =
  (client: ServerClient): ApiCall =>
  (request) =>
    client.answer(request.method, pathWithQuery(request), request.body, request.signal);

/** Until the assistant closes standard input, or a signal asks to stop. */
async function serve(shell: Shell, api: ApiCall, options: McpServerOptions): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { createMcpServer }, { MessageLines }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../../http/mcp/mcp-server.ts'),
    import('../../http/mcp/message-lines.ts'),
  ]);
  const lines = new MessageLines(shell.stdout);
  const interrupts = watchInterrupts();
  const ended = new Promise<void>((resolve) => {
    lines.once('end', resolve);
    interrupts.signal.addEventListener(
      'abort',
      guarded(() => resolve()),
      { once: true },
    );
  });
  const handle = serveStdio(() => createMcpServer(api, options), {
    transport: new StdioServerTransport(lines, shell.stdout, { maxBufferSize: Infinity }),
    onerror: ({ message }) => void shell.stderr.write(`mcp: ${message.replace(/\s+/g, ' ').slice(0, 300)}\n`),
  });
  shell.stdin.pipe(lines);
  try {
    await ended;
    await handle.close();
  } finally {
    shell.stdin.unpipe(lines);
    interrupts.close();
  }
}

/** Serves by a platform in this process, in a data folder that no other process uses meanwhile. */
async function serveAlone(shell: Shell, flags: McpFlags, tools: McpServerOptions['tools']): Promise<void> {
  const place = dataPlaceOf(shell, flags.dataDir);
  const dataDir = flags.dataDir === undefined ? join(place.dataDir, 'mcp') : place.dataDir;
  const given = readSettings(shell, {
    dataDir,
    drainMs: DRAIN_MS,
    ...(flags.allowPrivate === true ? { allowPrivate: true } : {}),
  });
  const settings = { ...given, ...ALONE };
  const level = settings.logLevel === 'info' ? 'error' : settings.logLevel;
  const logger = createLogger({
    level,
    ...logFormatOf(shell, settings),
    secrets: settingsSecretsOf(settings),
  });
  const metrics = createMetrics({ withProcess: false });
  const platform = await shell.openPlatform({ settings, logger, metrics });
  try {
    const api = await shell.openApi(platform, { version: shell.version, logger, metrics });
    try {
      await platform.start();
      const call = callWithin(api, { 'x-api-key': await secretOf(platform) });
      await serve(shell, call, { tools, exportUri: ({ id }) => exportPath(platform, id) });
    } finally {
      await api.close();
    }
  } finally {
    await platform.close();
  }
}

/** The secret of the key for this process. A key of an earlier start gets a new secret, since the former one was not kept. */
async function secretOf({ store, now }: OpenPlatform): Promise<string> {
  const account = await store.defaultAccount();
  const secret = newSecret();
  const former = (await store.listKeys(account)).find((key) => key.name === KEY_NAME && isUsable(key, now()));
  if (former !== undefined) {
    const stored = { hash: hashSecret(secret), prefix: prefixOf(secret) };
    if ((await store.rotateKey(account, former.id, stored, 0)) !== null) return secret;
  }
  const options = { scopes: ['write'], ratePerMinute: MOST_RATE_PER_MINUTE, expiresAt: null } as const;
  await store.createKey(newKey(account, secret, { name: KEY_NAME, ...options }, now()));
  return secret;
}

/** There is no server to download from: the assistant reads the file itself. */
async function exportPath({ store, settings }: OpenPlatform, id: string): Promise<string> {
  const made = await store.getExport(await store.defaultAccount(), id as ExportId);
  return made === null ? '' : pathToFileURL(join(settings.dataDir, 'exports', fileOf(made))).href;
}
