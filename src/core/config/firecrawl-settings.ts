import { z } from 'zod';

/** The Firecrawl-compatible API, and one elsewhere as an engine; see docs/firecrawl.md. */
export const firecrawlSettings = {
  firecrawlPort: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      'Port of its own for the Firecrawl-compatible API, with `/v1` and `/v2` at its root, such as `3002`; without it, that API has paths below the others.',
    ),
  firecrawlWebhookSecret: z
    .string()
    .min(16)
    .max(200)
    .optional()
    .describe(
      'Signs webhooks that the account `default` asks for by the Firecrawl-compatible API, unless a request gives a secret.',
    ),
  firecrawlUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Firecrawl-compatible API elsewhere to use as one more engine, such as `https://api.firecrawl.dev`.',
    ),
  firecrawlKey: z.string().min(1).optional().describe('Sent to it as a bearer token.'),
  searxngUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'SearXNG that the Firecrawl-compatible API searches the web with, such as `http://127.0.0.1:8080`; without it, stored pages are searched.',
    ),
};
