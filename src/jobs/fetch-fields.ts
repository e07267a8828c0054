import { z } from 'zod';
import { parseProxyUrl } from '../fetch/proxy/proxy-url.ts';
import type { ProxyOptions } from '../model/job.ts';
import { PROXY_TIERS } from '../model/proxy.ts';
import { countryCode } from '../plan/proxies/country.ts';
import { NAME, NAME_RULE } from '../sessions/session.ts';

const proxy = z
  .strictObject({
    tier: z.enum(PROXY_TIERS).optional().describe('Kind of proxy, from cheap to trusted.'),
    country: z
      .string()
      .refine((text) => countryCode(text) !== null, 'Not a country code of two letters (ISO 3166).')
      .optional()
      .describe('Where the proxy is to be, `de` for Germany.'),
    url: z
      .string()
      .max(2_048)
      .superRefine((text, context) => {
        const parsed = parseProxyUrl(text);
        if (parsed.kind === 'address') return;
        context.addIssue({ code: 'custom', message: `The proxy’s URL ${parsed.problem}.` });
      })
      .optional()
      .describe('A proxy of your own, `http://user:password@host:port`, https or socks5; never shown again.'),
  })
  .superRefine(({ tier, country, url }, context) => {
    if (tier === undefined && country === undefined && url === undefined) {
      context.addIssue({ code: 'custom', message: 'Give `tier`, `country` or `url`.' });
    }
    if (url === undefined) return;
    for (const [name, value] of Object.entries({ tier, country })) {
      if (value === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [name],
        message: 'A proxy given by `url` is taken as it is.',
      });
    }
  })
  .nullable()
  .default(null)
  .describe('The way out. Without it, as policy and need say.')
  .meta({ examples: [{ tier: 'residential', country: 'de' }] });

/** By which way, and as whom, a page is asked for. */
export const wayFields = {
  session: z
    .string()
    .regex(NAME, `Must be ${NAME_RULE}.`)
    .nullable()
    .default(null)
    .describe(
      'Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.',
    ),
  proxy,
  identity: z
    .enum(['bot', 'browser'])
    .nullable()
    .default(null)
    .describe(
      '`bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.',
    ),
};

export function proxyOptionsOf(given: z.output<typeof proxy>): ProxyOptions | null {
  if (given === null) return null;
  const { tier = null, country, url = null } = given;
  return { tier, country: country === undefined ? null : countryCode(country), url };
}
