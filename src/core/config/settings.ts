import { z } from 'zod';
import { browserSettings } from './browser-settings.ts';
import { addresses, bool, FROM_ANY_FOLDER, keyText, readAddressList, whole } from './field-types.ts';
import {
  deliverySettings,
  firecrawlSettings,
  lakeSettings,
  oidcFields,
  processSettings,
  retentionSettings,
  tracingSettings,
} from './part-settings.ts';
import { redisUrlProblem } from './place-urls.ts';
import { readPlans, readPrices } from './plans-and-prices.ts';

export const ROLES = ['all', 'api', 'http-worker', 'browser-worker', 'stealth-worker', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Every setting there is. The name in the environment is `SCRAPIFIE_` + the key in capitals with underscores;
 * `docs/configuration.md` and `.env.example` are tested against this schema.
 */
export const settingsSchema = z.object({
  host: z.string().min(1).default('127.0.0.1').describe('Address the API listens on.'),
  port: whole(0, 65_535)
    .default(3000)
    .describe('Port the API listens on; 0 takes a free one.')
    .meta(FROM_ANY_FOLDER),
  role: z.enum(ROLES).default('all').describe('What this process does: one part of a fleet, or all of it.'),
  databaseUrl: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('PostgreSQL that keeps everything, `postgres://user:password@host:5432/name`; else SQLite.'),
  databaseReadUrl: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe(
      'Standby of that PostgreSQL, which answers queries, tables of the ledger and searches while it keeps up.',
    ),
  databasePool: whole(1, 1_000).default(8).describe('Connections to PostgreSQL of this process.'),
  redisUrl: z
    .string()
    .superRefine((text, context) => {
      const problem = redisUrlProblem(text);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .optional()
    .describe(
      'Redis for queues and events between processes, `redis://:password@host:6379/0`; `redis+cluster://` and `redis+sentinel://` with several hosts.',
    ),
  redisPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes and underscores')
    .default('scrapifie')
    .describe('What the keys in Redis begin with; installations that share one Redis need different ones.'),
  s3Url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Object store for bodies, `https://[key:secret@]host/bucket?region=us-east-1`; without it, the data folder.',
    ),
  spillBytes: whole(0, 1_000_000_000_000_000)
    .default(10_737_418_240)
    .describe(
      'Bytes of bodies kept in the database, or in the data folder, while the object store is away or full.',
    ),
  cleanupMinutes: whole(0, 10_080)
    .default(60)
    .describe('Minutes between two removals of stored bodies that no page refers to any more; 0 for never.'),
  cleanupGraceHours: whole(12, 8_760)
    .default(24)
    .describe('Hours that a stored body is kept at least, referred to or not.'),
  backupTo: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder, or `s3://bucket/path`, that servers write backups to by themselves; without it, none.',
    ),
  backupHours: whole(1, 8_760).default(24).describe('Hours between two of these backups.'),
  backupKeepDaily: whole(0, 3_650)
    .default(7)
    .describe('Days of which the newest of these backups is kept; those of the last 24 hours are all kept.'),
  backupKeepWeekly: whole(0, 520).default(4).describe('Weeks of which the newest of these backups is kept.'),
  backupS3Url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Object store that backups named `s3://bucket/…` are in, written like `SCRAPIFIE_S3_URL`; without it, that one.',
    ),
  exportPlaces: z
    .string()
    .default('')
    .describe(
      'Folders, and `s3://bucket/path`, that exports may be copied to, with commas between them; without it, none.',
    ),
  exportS3Url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Object store of the places in buckets, written like `SCRAPIFIE_S3_URL`; without it, that one.',
    ),
  ...lakeSettings,
  ...retentionSettings,
  dataDir: z.string().min(1).default('./data').describe('Folder for the database and the stored bodies.'),
  apiKey: keyText
    .optional()
    .describe(
      'API key to accept; without it the first start makes one, and shows it once on a terminal, or else writes it to the file `api-key` in the data folder.',
    ),
  apiUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Server whose API the command line uses instead of working by itself; `--api` names another.'),
  allowPrivate: z
    .union([
      bool,
      z
        .string()
        .refine(
          (text) => readAddressList(text) !== null,
          'must be true, false, or IP addresses and CIDR ranges, separated by commas',
        ),
    ])
    .default(false)
    .describe(
      'Fetch loopback, private and link-local addresses too: `true` for all, or those of a list such as `127.0.0.1,10.0.0.0/8`. Addresses where clouds give out credentials stay refused.',
    ),
  policyFile: z
    .string()
    .min(1)
    .optional()
    .describe('YAML file with domain policies; read again when it changes.'),
  plugins: z
    .string()
    .default('')
    .describe('Modules of plug-ins to load, as paths with commas between them; see docs/plugins.md.'),
  ...browserSettings,
  flaresolverrUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('FlareSolverr to use as one more engine, such as `http://127.0.0.1:8191/v1`.'),
  replay: z
    .string()
    .min(1)
    .optional()
    .describe(
      'WARC or WACZ file, or a folder of them, that answers every request in place of the web; see docs/archives.md.',
    ),
  proxyFile: z
    .string()
    .min(1)
    .optional()
    .describe('YAML file with proxies and proxy providers; see docs/proxies.md.'),
  proxies: z
    .string()
    .default('')
    .describe(
      'Proxies of the tier `datacenter`, `http://user:password@host:port`, https or socks5, separated by commas.',
    ),
  captchaKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key of a 2Captcha-compatible service that solves challenges.'),
  captchaUrl: z
    .url({ protocol: /^https?$/ })
    .default('https://2captcha.com')
    .describe('Where that service is.'),
  antiCaptchaKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key of Anti-Captcha, asked when the first service fails or is not set up.'),
  antiCaptchaUrl: z
    .url({ protocol: /^https?$/ })
    .default('https://api.anti-captcha.com')
    .describe('Where Anti-Captcha is.'),
  vaultKey: z
    .string()
    .regex(/^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)$/, 'must be 32 bytes, in hex or base64')
    .optional()
    .describe(
      'Key that stored credentials, sessions and secrets of jobs are encrypted with: 32 bytes in hex or base64.',
    ),
  vaultOldKeys: z
    .string()
    .regex(
      /^(?:(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)\s*(?:,\s*(?!$)|$))*$/,
      'must be keys of 32 bytes in hex or base64, separated by commas',
    )
    .default('')
    .describe('Earlier vault keys, separated by commas: they open what they sealed and seal nothing.'),
  vaultKeyPath: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the vault key; without it `vault.key` in the data folder, made on the first start. With PostgreSQL it must be there.',
    ),
  allowPlainSecrets: bool
    .default(false)
    .describe(
      'Work without a vault key: secrets are stored as they are, and those that are encrypted stay closed.',
    ),
  credentialServiceUrl: z
    .url({ protocol: /^https$/ })
    .optional()
    .describe(
      'HTTPS service to ask for credentials that the vault does not have: `GET <url>/<name>`, of other accounts than `default` `GET <url>/<account>/<name>`.',
    ),
  credentialServiceToken: z.string().min(1).optional().describe('Sent to that service as a bearer token.'),
  credentialCacheSeconds: whole(0, 86_400)
    .default(300)
    .describe('Seconds for which an answer of that service is used without asking again.'),
  llmUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Language model to ask for fields that rules leave empty: an OpenAI-compatible `https://host/v1`.',
    ),
  llmKey: z.string().min(1).optional().describe('Sent to it as a bearer token.'),
  llmModel: z.string().min(1).optional().describe('The name of the model to ask.'),
  llmMaxInputTokens: whole(500, 1_000_000)
    .default(12_000)
    .describe('Longest part of a page that is sent to it, in tokens as far as they can be estimated.'),
  sessionHours: whole(1, 8_760).default(24).describe('Hours after which a session ends.'),
  contact: z
    .string()
    .min(3)
    .optional()
    .describe('URL or e-mail address where a site owner can reach you; it goes into the user agent.'),
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of this server for the outside world: links in webhooks begin with it, and its page `/bot` for site owners goes into the user agent.',
    ),
  dashboard: bool.default(true).describe('Serve the dashboard at `/`; `off` serves the API without it.'),
  botPurpose: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe('Why you crawl, in a sentence for site owners; it is shown at `/bot`.'),
  ...deliverySettings,
  ...firecrawlSettings,
  ...processSettings,
  ...tracingSettings,
  bodyLimitBytes: whole(1_024, 1_073_741_824)
    .default(10_485_760)
    .describe('Largest request body the API accepts.'),
  rateLimitPerMinute: whole(1, 100_000_000).default(120_000).describe('Requests per minute and API key.'),
  plans: z
    .string()
    .refine((text) => readPlans(text) !== null, 'must be JSON as docs/accounts.md shows it')
    .default('')
    .describe(
      'Plans of accounts and their limits, as JSON: `{"small": {"requestsPerMinute": 600, "openUrls": 10000}}`.',
    ),
  prices: z
    .string()
    .refine((text) => readPrices(text) !== null, 'must be JSON as docs/credits.md shows it')
    .default('')
    .describe(
      'What attempts cost in credits, as JSON: `{"http": 1, "browser": 5}`; what is left out keeps its default.',
    ),
  ...oidcFields,
  corsOrigins: z
    .string()
    .default('')
    .describe('Comma-separated origins that browsers may call the API from; `*` for any, empty for none.'),
  maxConnections: whole(1, 1_000_000)
    .default(16_384)
    .describe(
      'Connections to the API at once, as far as the limit of open files allows; further ones are closed.',
    ),
  maxConnectionsPerAddress: whole(1, 1_000_000)
    .default(1_024)
    .describe(
      'Connections from one address at once; further ones are closed. Loopback and trusted proxies have no such limit.',
    ),
  maxUnreadBytes: whole(1_048_576, 1_099_511_627_776)
    .default(268_435_456)
    .describe('Bytes of answers that clients have not read yet, before large answers are refused with 503.'),
  maxRequestBytes: whole(1_048_576, 1_099_511_627_776)
    .default(134_217_728)
    .describe(
      'Bytes of request bodies that have not arrived whole, before further ones are refused with 503; requests without a key may take an eighth of it.',
    ),
  minRequestBytesPerSecond: whole(1, 1_000_000_000)
    .default(1_000)
    .describe(
      'Bytes per second below which a request body ends with 408, when it stays below for 15 seconds.',
    ),
  maxEventStreams: whole(1, 1_000_000)
    .default(8_192)
    .describe('Streams of live events at once in a process; further ones are refused with 429.'),
  maxEventStreamsPerAccount: whole(1, 1_000_000)
    .default(2_048)
    .describe('Streams of live events at once of one account in a process.'),
  trustedProxies: addresses
    .default('')
    .describe(
      'Addresses or CIDR ranges of reverse proxies whose `X-Forwarded-For` is believed; empty for none.',
    ),
  metricsFrom: addresses
    .default('')
    .describe(
      'Addresses or CIDR ranges that may read `/metrics` without a key, such as `127.0.0.1,10.0.0.0/8`.',
    ),
  metricsKey: keyText.optional().describe('Key that may read `/metrics` and nothing else, for Prometheus.'),
  metricsHosts: whole(0, 200).default(20).describe('Hosts, of those asked most, that `/metrics` names.'),
  failedLoginsPerMinute: whole(1, 1_000_000)
    .default(30)
    .describe('Wrong API keys that one address may send per minute.'),
  maxQueuedUrls: whole(1, 1_000_000_000)
    .default(5_000_000)
    .describe('Open URLs over all jobs before new work is refused with QUEUE_FULL.'),
  minScheduleSeconds: whole(1, 86_400)
    .default(60)
    .describe(
      'Seconds between two runs of a schedule or checks of a monitor at least; shorter times are refused.',
    ),
  maxMonitors: whole(0, 1_000_000).default(1_000).describe('Monitors that one account may have.'),
  maxConcurrency: whole(1, 10_000)
    .default(256)
    .describe('Fetches under way at once in this process.')
    .meta(FROM_ANY_FOLDER),
  maxHosts: whole(1, 10_000)
    .default(256)
    .describe('Hosts worked on at once in this process.')
    .meta(FROM_ANY_FOLDER),
  maxBytesInFlight: whole(0, 1_099_511_627_776)
    .default(0)
    .describe(
      'Bytes of responses held at once in this process; 0 takes a sixteenth of the memory, 32 MB to 1 GB.',
    ),
  maxRenderBytes: whole(1_048_576, 1_099_511_627_776)
    .default(134_217_728)
    .describe('Most that one rendered page may load with everything in it, after decompression.'),
  taskTimeoutMs: whole(1_000, 3_600_000)
    .default(60_000)
    .describe(
      'Time for all attempts at one URL and the pauses between them, unless a request sets its own or a longer `timeoutMs`.',
    )
    .meta(FROM_ANY_FOLDER),
  extractThreads: whole(0, 64)
    .default(0)
    .describe('Threads that read pages; 0 takes one less than there are cores, at most four.')
    .meta(FROM_ANY_FOLDER),
});

export type Settings = Readonly<z.infer<typeof settingsSchema>>;

/** Balancers look at `/readyz` every few seconds. */
const API_NOTICE_MS = 5_000;

/** How long a process that stops goes on answering: only APIs have others that take over, and a balancer before them. */
export function drainNoticeOf({ drainNoticeMs, role }: Pick<Settings, 'drainNoticeMs' | 'role'>): number {
  return drainNoticeMs ?? (role === 'api' ? API_NOTICE_MS : 0);
}

export const settingNames = Object.keys(settingsSchema.shape) as readonly (keyof Settings)[];

/** Turns the name of a setting into its variable: `dataDir` becomes `SCRAPIFIE_DATA_DIR`. */
export function environmentName(setting: string): string {
  return `SCRAPIFIE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
