import { z } from 'zod';
import { PROXY_TIERS } from '../../core/model/proxy.ts';
import { countryCode } from '../../crawl/plan/proxies/country.ts';
import { NAME, NAME_RULE } from './session.ts';

const name = z.string().regex(NAME, `Must be ${NAME_RULE}.`);

/** A new session, as the API and the command line take it. */
export const sessionRequestSchema = z
  .strictObject({
    name: name.optional().describe('Left out: a name is made up.'),
    credentials: name.nullable().default(null).describe('The name of what to log in with.'),
    proxy: z
      .strictObject({
        tier: z.enum(PROXY_TIERS).nullable().default(null),
        country: z
          .string()
          .nullable()
          .default(null)
          .refine(
            (text) => text === null || countryCode(text) !== null,
            'Not a country code of two letters (ISO 3166).',
          )
          .transform((text) => (text === null ? null : countryCode(text))),
      })
      .nullable()
      .default(null)
      .describe('Which way out its requests take; it keeps one proxy for as long as that works.'),
    identity: z
      .enum(['bot', 'browser'])
      .nullable()
      .default(null)
      .describe(
        '`browser` carries the identity of a regular browser, the same one throughout; a host’s policy must consent.',
      ),
    expiresInHours: z
      .number()
      .int()
      .min(1)
      .max(8_760)
      .nullable()
      .default(null)
      .describe('When it ends; null: as the settings say, a day unless told.'),
  })
  .meta({
    id: 'SessionRequest',
    examples: [{ name: 'shop', credentials: 'shop-login', proxy: { country: 'de' } }],
  });

export type SessionRequest = z.input<typeof sessionRequestSchema>;
