import { z } from 'zod';
import { FROM_ANY_FOLDER, readPairs, whole } from './field-types.ts';

/** How a process tells of itself, holds hosts and ends; see docs/logs.md and docs/operations.md. */
export const processSettings = {
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe log line that is written.')
    .meta(FROM_ANY_FOLDER),
  logFormat: z
    .enum(['json', 'pretty'])
    .optional()
    .describe('Form of log lines: `pretty` for people, or `json`; without it, `pretty` on a terminal.')
    .meta(FROM_ANY_FOLDER),
  hostLeaseMs: whole(3_000, 600_000)
    .default(30_000)
    .describe('After this time at most, another process takes over the hosts of one that has died.'),
  drainNoticeMs: whole(0, 600_000)
    .optional()
    .describe(
      'Time that a process which is told to stop goes on answering while `/readyz` says so, for balancers to notice; 5,000 with the role `api`, else 0.',
    )
    .meta(FROM_ANY_FOLDER),
  drainMs: whole(0, 600_000)
    .default(30_000)
    .describe('Time that running work gets to finish when the process is told to stop, after that notice.')
    .meta(FROM_ANY_FOLDER),
};

const days = whole(0, 36_500).default(0);

/** How long data is kept; see docs/retention.md. */
export const retentionSettings = {
  retentionBodiesDays: days.describe(
    'Days that bodies are kept as they were fetched; 0: as long as the records of their pages.',
  ),
  retentionArtifactsDays: days.describe(
    'Days that pictures, PDFs and recorded answers are kept; 0: as long as the records of their pages.',
  ),
  retentionRecordsDays: days.describe(
    'Days that is kept what was read out of pages; 0: as long as the pages of the job.',
  ),
  retentionLedgerDays: days.describe(
    'Days that the URLs and pages of an ended job are kept; then its summary stays. 0: as long as the job.',
  ),
  retentionJobsDays: days.describe('Days that an ended job is kept at all; 0: until it is deleted.'),
  retentionExportsDays: days.describe(
    'Days that exports are kept; 0: as long as the URLs and records of their job.',
  ),
  retentionSnapshotsDays: days.describe(
    'Days that the content of a page is kept in its history after it was last seen; 0: for good.',
  ),
  retentionEventsDays: whole(1, 36_500)
    .default(30)
    .describe(
      'Days that events are kept for clients that come back; never less than until webhooks have read them.',
    ),
  retentionMaxJobs: whole(0, 1_000_000_000)
    .default(0)
    .describe('Ended jobs that are kept for each account, the newest; 0: all.'),
  retentionMaxBytes: whole(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe(
      'Bytes of fetched pages that are kept for each account; beyond that the oldest bodies go. 0: without limit.',
    ),
};

/** How webhooks are sent; see docs/webhooks.md. */
export const deliverySettings = {
  smtpUrl: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe('Server that sends e-mail of webhooks, `smtp://user:password@host:587`, or `smtps://`.'),
  smtpFrom: z
    .string()
    .min(3)
    .max(320)
    .regex(/^\P{Cc}*$/u, 'Must have no control characters and no line breaks.')
    .optional()
    .describe('Sender of these e-mails, such as `Scrapifie <bot@example.com>`.'),
  mailAllowed: z
    .string()
    .max(10_000)
    .default('')
    .describe(
      'Addresses and domains that webhooks may send e-mail to without a confirmation, separated by commas: `ops@example.com,example.org`. The owners of all others get a link first.',
    ),
  deliveryDays: z.coerce
    .number()
    .int()
    .min(1)
    .max(3_650)
    .default(30)
    .describe('Days for which ended deliveries of webhooks are kept.'),
};

/** Where the lake lies, and what SQL over it may take. */
export const lakeSettings = {
  lake: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder, or `s3://bucket/path` in the object store of `SCRAPIFIE_S3_URL`, for the lake; without it, `lake` in that bucket, or in the data folder.',
    ),
  lakeCacheBytes: whole(1_048_576, 1_000_000_000_000_000)
    .default(4_294_967_296)
    .describe('Bytes of a lake in an object store that are kept in the data folder for SQL.'),
  sqlMemoryMb: whole(64, 1_048_576).default(512).describe('Megabytes of memory that one SQL query may take.'),
  sqlConcurrency: whole(1, 100)
    .default(2)
    .describe('SQL queries that this process runs at once, each in a process of its own.'),
};

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

/** Signatures of key pairs. Those of a shared secret, and none, are not among them: anyone with the public key could sign. */
const ALGORITHMS: ReadonlySet<string> = new Set([
  ...['RS', 'PS', 'ES'].flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`]),
  'EdDSA',
]);

/** Settings of the issuer whose bearer tokens are accepted. */
export const oidcFields = {
  oidcIssuer: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('OIDC issuer whose bearer tokens are accepted besides keys, exactly as its tokens name it.'),
  oidcAudience: z.string().min(1).optional().describe('Audience that its tokens must be for.'),
  oidcAccountClaim: z
    .string()
    .min(1)
    .default('account')
    .describe('Claim of its tokens that has the id of the account.'),
  oidcScopesClaim: z
    .string()
    .min(1)
    .default('scope')
    .describe('Claim of its tokens that has the scopes: names apart by spaces, or a list.'),
  oidcAlgorithms: z
    .string()
    .refine(
      (list) => list.split(',').every((name) => ALGORITHMS.has(name)),
      'must be names such as RS256,ES256,EdDSA',
    )
    .default('RS256,PS256,ES256,EdDSA')
    .describe('Signatures of its tokens that are accepted; only those of key pairs.'),
  oidcClockToleranceSeconds: z.coerce
    .number()
    .int()
    .min(0)
    .max(300)
    .default(30)
    .describe('Seconds by which the clocks of the issuer and of this machine may differ.'),
};

const pairs = z
  .string()
  .refine((text) => readPairs(text) !== null, 'must be name=value pairs, separated by commas')
  .default('');

/** Where spans are sent, and how many; see docs/tracing.md. */
export const tracingSettings = {
  otelUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'OpenTelemetry receiver that spans are sent to, by OTLP over HTTP, such as `http://127.0.0.1:4318`; without it there are none.',
    ),
  otelHeaders: pairs.describe(
    'Headers for that receiver, `name=value` with commas between them, values percent-encoded.',
  ),
  otelServiceName: z
    .string()
    .min(1)
    .max(255)
    .default('scrapifie')
    .describe('Name of this installation among the services of the receiver.'),
  otelAttributes: pairs.describe(
    'Facts about this process for the receiver, such as `deployment.environment.name=staging`, written like the headers.',
  ),
  traceRatio: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('Share of the requests and jobs that are traced, where their caller does not say so itself.'),
  traceAttempts: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(1_000)
    .describe('Attempts at pages of one job that are traced in one process; later ones have no spans.'),
  traceQueue: z.coerce
    .number()
    .int()
    .min(512)
    .max(1_000_000)
    .default(4_096)
    .describe('Spans that may wait for the receiver; further ones are dropped.'),
};
