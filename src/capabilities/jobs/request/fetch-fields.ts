import { z } from 'zod';
import type { ProxyOptions } from '../../../core/model/job.ts';
import type { PageOption } from '../../../core/model/page-option.ts';
import { PROXY_TIERS, type ProxyTier } from '../../../core/model/proxy.ts';
import { countryCode } from '../../../crawl/plan/proxies/proxy-config.ts';
import { parseProxyUrl } from '../../../fetch/proxy/proxy-url.ts';
import { secretField } from '../../sessions/secret-fields.ts';
import { NAME, NAME_RULE } from '../../sessions/session.ts';

const MAX_OWN_PROXIES = 100;

const proxyUrl = z
  .string()
  .max(2_048)
  .superRefine((text, context) => {
    const parsed = parseProxyUrl(text);
    if (parsed.kind === 'address') return;
    context.addIssue({ code: 'custom', message: `The proxy’s URL ${parsed.problem}.` });
  });

const rankOf = (tier: ProxyTier): number => PROXY_TIERS.indexOf(tier);

const proxy = z
  .strictObject({
    tier: z.enum(PROXY_TIERS).optional().describe('Kind of proxy, from cheap to trusted.'),
    country: z
      .string()
      .refine((text) => countryCode(text) !== null, 'Not a country code of two letters (ISO 3166).')
      .optional()
      .describe('Where the proxy is to be, `de` for Germany.'),
    maxTier: z
      .enum(PROXY_TIERS)
      .optional()
      .describe('The dearest kind that may be used; `datacenter` keeps residential and mobile ones out.'),
    url: secretField('page.proxy.url', proxyUrl)
      .optional()
      .describe('A proxy of your own, `http://user:password@host:port`, https or socks5; never shown again.'),
    urls: secretField('page.proxy.urls', z.array(proxyUrl).min(1).max(MAX_OWN_PROXIES))
      .optional()
      .describe('Several proxies of your own, which are used in turn.'),
  })
  .superRefine((given, context) => {
    const { tier, country, maxTier, url, urls } = given;
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (Object.keys(given).length === 0) {
      refuse([], 'Give `tier`, `country`, `maxTier`, `url` or `urls`.');
    }
    if (tier !== undefined && maxTier !== undefined && rankOf(tier) > rankOf(maxTier)) {
      refuse(['tier'], 'It is dearer than `maxTier` allows.');
    }
    if (url === undefined && urls === undefined) return;
    if (url !== undefined && urls !== undefined) refuse(['urls'], 'Give `url` or `urls`, not both.');
    for (const [name, value] of Object.entries({ tier, country, maxTier })) {
      if (value !== undefined) refuse([name], 'A proxy given by `url` is taken as it is.');
    }
  })
  .meta({ id: 'PageProxy' })
  .nullable()
  .default(null)
  .describe('The way out. Without it, as policy and need say.')
  .meta({ examples: [{ tier: 'residential', country: 'de' }] });

const TIER_CHOICES = [
  ['', 'As needed'],
  ['datacenter', 'Datacenter'],
  ['residential', 'Residential'],
  ['mobile', 'Mobile'],
] as const;

/** By which way, and as whom, a page is asked for. */
export const wayOptions = {
  session: {
    schema: z
      .string()
      .regex(NAME, `Must be ${NAME_RULE}.`)
      .nullable()
      .default(null)
      .describe(
        'Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.',
      ),
    flags: {
      session: {
        flag: '--session <name>',
        says: 'session that keeps cookies, storage, proxy and identity',
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Session',
        kind: 'text',
        hint: 'Keeps cookies, storage, proxy and identity; the first use makes it.',
        placeholder: 'my-shop',
      },
    ],
  },
  proxy: {
    schema: proxy,
    flags: {
      proxy: {
        flag: '--proxy <url>',
        says: 'proxy to go through, e.g. socks5://user:password@host:1080; repeatable, used in turn',
        reads: 'each',
        sets: 'urls',
        gives: ['url'],
        stored: ['proxy.urls', 'proxy.url'],
        isHidden: true,
      },
      proxyTier: {
        flag: '--proxy-tier <name>',
        says: 'kind of proxy from the proxy file',
        choices: PROXY_TIERS,
        sets: 'tier',
      },
      maxProxyTier: {
        flag: '--max-proxy-tier <name>',
        says: 'dearest kind of proxy that may be used',
        choices: PROXY_TIERS,
        sets: 'maxTier',
        stored: ['maxProxyTier'],
      },
      country: { flag: '--country <code>', says: 'where the proxy is to be, e.g. de', sets: 'country' },
    },
    form: [
      {
        group: 'fetch',
        part: 'tier',
        label: 'Proxy',
        kind: 'choice',
        choices: TIER_CHOICES,
        isHalf: true,
      },
      { group: 'fetch', part: 'country', label: 'Country', kind: 'text', placeholder: 'de', isHalf: true },
      {
        group: 'fetch',
        part: 'maxTier',
        label: 'Dearest proxy',
        kind: 'choice',
        choices: TIER_CHOICES,
        isHalf: true,
      },
      {
        group: 'fetch',
        part: 'url',
        label: 'Own proxy',
        kind: 'text',
        placeholder: 'http://user:password@host:port',
        isHalf: true,
      },
    ],
  },
  identity: {
    schema: z
      .enum(['bot', 'browser'])
      .nullable()
      .default(null)
      .describe(
        '`bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.',
      ),
    flags: {
      identity: {
        flag: '--identity <kind>',
        says: 'identify as a bot, or look like a regular browser',
        choices: ['bot', 'browser'],
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Identity',
        kind: 'choice',
        choices: [
          ['', 'As the policy says'],
          ['bot', 'Scrapifie'],
          ['browser', 'Browser (needs consent)'],
        ],
        isHalf: true,
      },
    ],
  },
} as const satisfies Readonly<Record<string, PageOption>>;

export function proxyOptionsOf(given: z.output<typeof proxy>): ProxyOptions | null {
  if (given === null) return null;
  const { tier = null, urls, url = urls?.[0] ?? null } = given;
  const country = given.country === undefined ? null : countryCode(given.country);
  // A ceiling alone asks for no proxy.
  if (tier === null && country === null && url === null) return null;
  return { tier, country, url, ...(urls === undefined || urls.length < 2 ? {} : { urls }) };
}
