import { z } from 'zod';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import { crawlDelayMs, isAllowed, parseRobots, ROBOTS_LIMIT_BYTES } from '../../crawl/robots/robots-rules.ts';
import { PRODUCT_TOKEN } from '../../fetch/user-agent.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { App } from '../server/app.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const time = z.iso.datetime();

const testSchema = z
  .object({
    url: z.string(),
    userAgent: z.string(),
    isAllowed: z.boolean().nullable().describe('Null when the robots.txt of the host was never fetched.'),
    rule: z.string().nullable().describe('The line that decided; null when none matched.'),
    line: z.number().int().nullable().describe('Its number, from 1.'),
    message: z.string(),
    crawlDelayMs: z.number().nullable().describe('The pause that the file asks for between requests.'),
    sitemaps: z.array(z.string()),
    source: z
      .enum(['stored', 'given', 'none'])
      .describe('Which file was asked: the stored one, the one of the request, or none.'),
    status: z.enum(['ok', 'absent', 'unreachable']).nullable().describe('Of the stored file.'),
    fetchedAt: time.nullable(),
    policy: z.enum(['obey', 'ignore']).describe('Whether the policy of the host obeys robots.txt.'),
  })
  .meta({ id: 'RobotsTest' });

const MOST_SITEMAPS = 100;

/** What robots.txt says about one URL. Nothing is fetched. */
export function addRobotsTestRoutes(app: App, { store, policies }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/domains/:host/robots-test',
    config: { access: 'installation' },
    schema: {
      tags: ['domains'],
      summary: 'May a URL of the host be fetched, by its robots.txt?',
      description: 'By the stored robots.txt, or by one that the request brings. Nothing is fetched.',
      params: z.strictObject({ host: z.string().min(1).max(300) }),
      body: z
        .strictObject({
          url: z.string().min(1).max(8_192).describe('A URL of the host, or a path on it over https.'),
          userAgent: z
            .string()
            .regex(/^[\w-]{1,100}$/, 'Must be a product token: letters, digits, `_` and `-`.')
            .default(PRODUCT_TOKEN)
            .describe('The product token that the groups of the file are searched for.'),
          robotsTxt: z
            .string()
            .max(ROBOTS_LIMIT_BYTES)
            .nullable()
            .default(null)
            .describe('A robots.txt to try in place of the stored one.'),
        })
        .meta({ examples: [{ url: '/private/page' }] }),
      response: answers({ 200: testSchema }),
    },
    async handler(request) {
      const host = hostOf(request.params.host);
      const { userAgent, robotsTxt } = request.body;
      const url = URL.parse(request.body.url, `https://${host}`);
      if (url === null || !/^https?:$/.test(url.protocol) || url.host !== host) {
        throw invalidRequest([{ field: 'url', message: `Must be a URL of ${host}, or a path on it.` }]);
      }
      const asked = { url: url.href, userAgent, policy: policies.policyFor(host).robots };
      const stored = robotsTxt === null ? await store.getRobots(url.origin) : null;
      if (robotsTxt === null && stored?.status !== 'ok') {
        const isAllowed = stored === null ? null : stored.status === 'absent';
        return success({
          ...asked,
          isAllowed,
          rule: null,
          line: null,
          message: UNDECIDED[stored?.status ?? 'none'],
          crawlDelayMs: null,
          sitemaps: [],
          source: stored === null ? ('none' as const) : ('stored' as const),
          status: stored?.status ?? null,
          fetchedAt: stored === null ? null : isoTime(stored.fetchedAt),
        });
      }
      const rules = parseRobots(robotsTxt ?? stored?.body ?? '');
      const { allowed, rule } = isAllowed(rules, userAgent, url.pathname + url.search);
      const line = /\(line (\d+)\)$/.exec(rule ?? '')?.[1];
      return success({
        ...asked,
        isAllowed: allowed,
        rule,
        line: line === undefined ? null : Number(line),
        message: `robots.txt ${allowed ? 'allows' : 'forbids'} it${rule === null ? ': no rule matches' : ` by \`${rule}\``}.`,
        crawlDelayMs: crawlDelayMs(rules, userAgent),
        sitemaps: rules.sitemaps.slice(0, MOST_SITEMAPS),
        source: robotsTxt === null ? ('stored' as const) : ('given' as const),
        status: stored?.status ?? null,
        fetchedAt: stored === null ? null : isoTime(stored.fetchedAt),
      });
    },
  });
}

const UNDECIDED = {
  none: 'The robots.txt of this origin was not fetched yet: scrape a page of it first, or send a robots.txt.',
  absent: 'The host has no robots.txt, so everything is allowed.',
  unreachable: 'robots.txt could not be read, which puts the whole host off limits for now.',
} as const;
