import { type SessionRequest, sessionRequestSchema } from '../../capabilities/sessions/session.ts';
import type { SessionEntryView, SessionView } from '../../capabilities/views/session-view.ts';
import type { SessionWish } from '../../core/ports/session-store.ts';
import {
  type ListFlags,
  limitOption,
  mostOf,
  type SubcommandFlags,
  subcommandsOn,
} from '../backend/subcommands.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { FLAGS, given, parseFlags, withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import type { Screen } from '../output/screen.ts';
import { details, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface CreateFlags extends SubcommandFlags {
  readonly credentials?: string;
  readonly proxyTier?: string;
  readonly country?: string;
  readonly identity?: string;
  readonly hours?: number;
}

const FLAG_OF = {
  name: 'The name',
  credentials: '--credentials',
  'proxy.tier': '--proxy-tier',
  proxy: '--country',
  identity: '--identity',
  expiresInHours: '--hours',
};

const EXAMPLES = `
A session keeps cookies, storage, proxy and identity from page to page. One is made by the first request that names
it, by "create", by "scrapifie login", or by the API; all of them, and scrape and crawl, see the same ones. Cookie
values and stored data are never shown.

Examples:
  scrapifie sessions list
  scrapifie sessions create shop --credentials shop-login --hours 72
  scrapifie sessions show shop
  scrapifie sessions delete shop`;

export const define: DefineCommand = (command, shell) => {
  const { add, addOn, addDelete, run } = subcommandsOn(command, shell, {
    name: 'sessions',
    noun: 'Session',
    argument: '<name>',
    withFlags: withPlaceFlags,
  });
  command.addHelpText('afterAll', helpBelow(EXAMPLES));

  add('list', 'newest first, ended ones too')
    .addOption(limitOption('sessions'))
    .action((flags: ListFlags) => run(flags, (sessions) => sessions.list(mostOf(flags)), listing));
  addOn('show', 'one session in full', (sessions, name) => sessions.get(name), describe);
  add('create <name>', 'make a session, for log-ins and crawls to come')
    .option('--credentials <name>', 'what it logs in with')
    .addOption(FLAGS.proxyTier())
    .addOption(FLAGS.country())
    .addOption(FLAGS.identity())
    .option('--hours <n>', 'hours after which it ends (default: SCRAPIFIE_SESSION_HOURS)', wholeNumber)
    .action((name: string, flags: CreateFlags) => {
      const { credentials, identity, hours: expiresInHours, proxyTier: tier, country } = flags;
      const proxy = tier === undefined && country === undefined ? undefined : given({ tier, country });
      const request = given({ name, credentials, identity, expiresInHours, proxy });
      parseFlags(sessionRequestSchema, request, FLAG_OF);
      return run(
        flags,
        (sessions) => sessions.create(request as SessionRequest),
        (_screen, { expiresAt }) => `Session ${name} is made; it ends ${expiresAt}.\n`,
        true,
      );
    });
  addDelete('forget a session and all it keeps', 'name', (sessions, name) => sessions.delete(name));
};

function listing(screen: Screen, views: readonly SessionEntryView[]): string {
  if (views.length === 0) return 'There are no sessions.\n';
  return table(screen, [
    ['NAME', 'STATE', 'REQUESTS', 'CREATED', 'ENDS', 'LAST USED'],
    ...views.map(({ name, isExpired, requestCount, createdAt, expiresAt, lastUsedAt }) => [
      name,
      isExpired ? 'ended' : 'usable',
      String(requestCount),
      createdAt,
      expiresAt,
      lastUsedAt ?? 'never',
    ]),
  ]);
}

function describe(screen: Screen, view: SessionView): string {
  const { usedProxy, proxy, dropped } = view;
  return details(screen, [
    ['name', view.name],
    ['state', view.isExpired ? 'ended' : 'usable'],
    ['requests', String(view.requestCount)],
    ['created', view.createdAt],
    ['ends', view.expiresAt],
    ['last used', view.lastUsedAt ?? 'never'],
    ['credentials', view.credentials ?? '–'],
    ['identity', view.userAgent ?? view.identity ?? '–'],
    ['proxy', usedProxy?.id ?? wishedProxy(proxy)],
    ...view.cookies.map(({ name, domain }) => ['cookie', `${name} (${domain})`]),
    ...view.storage.map(({ origin, items }) => ['storage', `${origin}: ${items}`]),
    ['left out', `${dropped.cookies} cookies, storage of ${dropped.origins} origins`],
  ]);
}

const wishedProxy = (proxy: SessionWish['proxy']) =>
  [proxy?.tier, proxy?.country].filter((part) => part != null).join(' ') || '–';
