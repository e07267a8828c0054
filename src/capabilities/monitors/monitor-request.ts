import { z } from 'zod';
import { diffRulesSchema } from '../../extract/diff/diff-rules.ts';
import { crawlPageOptions, crawlRequestSchema } from '../jobs/request/job-request.ts';
import { ageMsOf, timeField } from '../jobs/request/retention-fields.ts';
import {
  eventsField,
  webhookHeadersField,
  webhookSecretField,
  webhookUrlField,
} from '../jobs/request/webhook-fields.ts';
import { scheduleRequestSchema } from '../schedules/schedule-request.ts';

/** What a client may ask of a monitor. API and command line parse with these. */

const MAX_URLS = 1_000;
const DEFAULT_PAGES = 500;
const MAX_PAGES = 10_000;
const MAX_SETTLE_MS = 30 * 86_400_000;

const url = z.string().min(1).max(8_192);
const rules = diffRulesSchema.shape;
const crawl = crawlRequestSchema.shape;
const timing = scheduleRequestSchema.shape;

const schedule = z
  .strictObject({
    cron: timing.cron,
    every: timing.every,
    timeZone: timing.timeZone,
    jitterMs: timing.jitterMs,
    catchUp: timing.catchUp,
    activeHours: timing.activeHours,
  })
  .superRefine(({ cron, every }, context) => {
    if ((cron === undefined) === (every === undefined)) {
      context.addIssue({ code: 'custom', path: ['cron'], message: 'Give `cron` or `every`, and not both.' });
    }
  })
  .meta({ id: 'MonitorSchedule' })
  .describe('When the pages are checked, as for /v1/schedules.')
  .meta({ examples: [{ every: '1h' }] });

const scheduleChange = z
  .strictObject({
    cron: timing.cron,
    every: timing.every,
    timeZone: timing.timeZone.unwrap().optional(),
    jitterMs: timing.jitterMs.unwrap().optional(),
    catchUp: timing.catchUp.unwrap().optional(),
    activeHours: timing.activeHours.unwrap().optional(),
  })
  .superRefine(({ cron, every }, context) => {
    if (cron !== undefined && every !== undefined) {
      context.addIssue({ code: 'custom', path: ['cron'], message: 'Give `cron` or `every`, and not both.' });
    }
  })
  .meta({ id: 'MonitorScheduleUpdate' });

const chatUrl = (service: string) =>
  webhookUrlField.optional().describe(`A short message for people goes here: ${service}.`);

export const notifySchema = z
  .strictObject({
    webhook: z
      .strictObject({
        url: webhookUrlField.describe('An http or https URL.'),
        secret: webhookSecretField
          .optional()
          .describe('Signs what is sent. Without one, messages are not signed.'),
        headers: webhookHeadersField.optional().describe('Sent along, such as `Authorization`.'),
      })
      .meta({ id: 'MonitorWebhook' })
      .optional()
      .describe('Where the events are sent as JSON.'),
    email: z
      .string()
      .max(320)
      .optional()
      .describe('An address for e-mail; the server must have SCRAPIFIE_SMTP_URL.'),
    slack: chatUrl('an incoming webhook of Slack'),
    discord: chatUrl('a webhook of Discord'),
    teams: chatUrl('a webhook of Microsoft Teams'),
    ntfy: chatUrl('a topic of ntfy, such as https://ntfy.sh/topic'),
    events: eventsField
      .default(['monitor.*'])
      .describe('Types of events, or patterns; `page.changed` is one for each page.'),
  })
  .describe('Who is told of this monitor, besides the webhooks of the account.')
  .meta({ id: 'MonitorReceivers', examples: [{ slack: 'https://hooks.slack.com/services/T0/B0/x' }] });

/** Fields that are the same when a monitor is made and when it is changed; the defaults are those of the first. */
const fields = {
  name: z.string().trim().min(1).max(200).describe('For people.'),
  urls: z.array(url).min(1).max(MAX_URLS).describe('The pages to watch.'),
  site: url.describe('A site to watch: its pages are found by following links and reading its sitemaps.'),
  sitemap: url.describe('A sitemap whose pages are watched.'),
  maxPages: z
    .number()
    .int()
    .min(1)
    .max(MAX_PAGES)
    .describe(
      'Pages of a site or sitemap to look at; one that has more is never covered, so none is told as removed.',
    ),
  confirm: z
    .number()
    .int()
    .min(1)
    .max(20)
    .describe('Checks in a row that must have seen a change before it is told.'),
  settle: timeField
    .refine((time) => ageMsOf(time) <= MAX_SETTLE_MS, 'At most 30 days.')
    .describe(
      'How long a page that is gone, empty or almost wholly another has to stay so before it is told.',
    ),
  failAfter: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .describe('Checks in a row that must have failed before `monitor.failed` is told.'),
  learnNoise: z
    .boolean()
    .describe(
      'Leave out what differs at almost every check (clocks, counters, advertisements) and variants of tests.',
    ),
  recheck: z
    .boolean()
    .describe(
      'Look again after half a minute at pages that seem to have changed, and at new ones to learn their noise.',
    ),
};

export const monitorRequestSchema = z
  .strictObject({
    name: fields.name,
    urls: fields.urls.optional(),
    site: fields.site.optional(),
    sitemap: fields.sitemap.optional(),
    schedule,
    watch: rules.watch,
    ignore: rules.ignore,
    threshold: rules.threshold,
    confirm: fields.confirm.default(3),
    settle: fields.settle.default('6h'),
    failAfter: fields.failAfter.default(3),
    learnNoise: fields.learnNoise.default(true),
    recheck: fields.recheck.default(true),
    maxPages: fields.maxPages.default(DEFAULT_PAGES),
    maxDepth: crawl.maxDepth,
    include: crawl.include,
    exclude: crawl.exclude,
    options: crawlPageOptions.prefault({}).describe('How each page is fetched.'),
    notify: notifySchema.optional(),
  })
  .superRefine(({ urls, site, sitemap, watch }, context) => {
    if ([urls, site, sitemap].filter((target) => target !== undefined).length !== 1) {
      context.addIssue({
        code: 'custom',
        path: ['urls'],
        message: 'Give one of `urls`, `site` and `sitemap`.',
      });
    }
    refuseScreenshot(watch, context);
  })
  .meta({
    id: 'MonitorRequest',
    examples: [
      {
        name: 'price of the chair',
        urls: ['https://shop.example/chair'],
        schedule: { every: '1h' },
        watch: { fields: ['price', 'availability'] },
      },
    ],
  });

/** What clients may change of a monitor; a field that is left out stays as it is. */
export const monitorChangeSchema = z
  .strictObject({
    name: fields.name.optional(),
    urls: fields.urls.optional(),
    site: fields.site.optional(),
    sitemap: fields.sitemap.optional(),
    schedule: scheduleChange.optional(),
    watch: rules.watch.unwrap().optional(),
    ignore: rules.ignore.unwrap().optional(),
    threshold: rules.threshold.unwrap().optional(),
    confirm: fields.confirm.optional(),
    settle: fields.settle.optional(),
    failAfter: fields.failAfter.optional(),
    learnNoise: fields.learnNoise.optional(),
    recheck: fields.recheck.optional(),
    maxPages: fields.maxPages.optional(),
    maxDepth: crawl.maxDepth.unwrap().optional(),
    include: crawl.include.unwrap().optional(),
    exclude: crawl.exclude.unwrap().optional(),
    options: crawlPageOptions
      .optional()
      .describe(
        'How each page is fetched, in place of all that was said before; needed where hidden values would go to a new origin.',
      ),
    notify: notifySchema
      .nullable()
      .optional()
      .describe('Replaces the receivers that the monitor had; null: it has none.'),
  })
  .superRefine(({ watch }, context) => {
    if (watch !== undefined) refuseScreenshot(watch, context);
  })
  .meta({ id: 'MonitorUpdate', examples: [{ schedule: { every: '15m' }, confirm: 2 }] });

export const monitorPreviewSchema = z
  .strictObject({
    url: url.describe('The page to look at.'),
    watch: rules.watch,
    ignore: rules.ignore,
    options: crawlPageOptions.prefault({}).describe('How the page is fetched.'),
  })
  .superRefine(({ watch }, context) => refuseScreenshot(watch, context))
  .meta({
    id: 'MonitorPreviewRequest',
    examples: [{ url: 'https://shop.example/chair', watch: { selectors: ['.price'] } }],
  });

export type MonitorRequest = z.output<typeof monitorRequestSchema>;
export type MonitorChangeRequest = z.output<typeof monitorChangeSchema>;
export type MonitorPreviewRequest = z.output<typeof monitorPreviewSchema>;
export type NotifyRequest = z.output<typeof notifySchema>;

function refuseScreenshot(watch: { readonly screenshot: boolean }, context: z.RefinementCtx): void {
  if (!watch.screenshot) return;
  context.addIssue({
    code: 'custom',
    path: ['watch', 'screenshot'],
    message: 'Monitors compare texts and fields; compare pictures by the diff of two jobs or snapshots.',
  });
}
