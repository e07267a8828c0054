import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId, ScheduleId } from '../../core/model/ids.ts';
import type { JobOptions, PageOptions, ProxyOptions } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import type { RenderAction, RenderWish } from '../../core/model/render.ts';
import type { ScheduledJob } from '../../core/ports/schedule-store.ts';
import { HIDDEN_VALUE, hideSecrets, hideValues, type SecretHolder } from './secret-fields.ts';
import { lockedBy, type Vault, type VaultPlace } from './vault.ts';

/** The parts of page options that may hold a log-in: headers, cookies, a posted body, the proxy's URL, typed text, files, scripts. */
type SecretParts = Pick<PageOptions, 'headers' | 'cookies' | 'body' | 'proxy'> & {
  readonly actions: readonly RenderAction[] | null;
};

interface JobRef {
  readonly id: JobId;
  readonly accountId: AccountId;
}

/**
 * The options as they are stored: with `HIDDEN_VALUE` in place of each secret, and the secrets sealed beside them. Options
 * without secrets are stored as they are, and so are all options where there is no vault.
 */
export function sealOptions(options: JobOptions, vault: Vault | null, job: JobRef): JobOptions {
  if (vault === null || options.sealed !== undefined) return options;
  const shown = hideSecrets(options.page);
  if (shown === options.page) return options;
  const plain = Buffer.from(JSON.stringify(secretParts(options.page)));
  const sealed = Buffer.from(vault.seal(plain, placeOf(job))).toString('base64');
  return { ...options, page: shown, sealed };
}

/** What `sealOptions` was given. Throws INVALID_SETTINGS without the key, DATABASE_CORRUPT when the row was changed. */
export function openOptions(options: JobOptions, vault: Vault | null, job: JobRef): JobOptions {
  const { sealed, ...stored } = options;
  if (sealed === undefined) return options;
  const bytes = Buffer.from(sealed, 'base64');
  if (vault === null) throw lockedBy(bytes, placeOf(job), null);
  const { actions, ...parts } = parse(vault.open(bytes, placeOf(job)), job);
  const { render } = stored.page;
  return {
    ...stored,
    page: {
      ...stored.page,
      ...parts,
      render: render === null || actions === null ? render : { ...render, actions },
    },
  };
}

/** Seals the options under the vault's present key, those that were stored in the open too; null when they are already. */
export function resealOptions(options: JobOptions, vault: Vault, job: JobRef): JobOptions | null {
  if (options.sealed === undefined) {
    const sealed = sealOptions(options, vault, job);
    return sealed === options ? null : sealed;
  }
  const wrapped = vault.rewrap(Buffer.from(options.sealed, 'base64'), placeOf(job));
  return wrapped === null ? null : { ...options, sealed: Buffer.from(wrapped).toString('base64') };
}

const secretParts = ({ headers, cookies, body, proxy, render }: PageOptions): SecretParts => ({
  headers,
  cookies,
  body,
  proxy,
  actions: render?.actions ?? null,
});

const placeOf = ({ id, accountId }: JobRef): VaultPlace => ({ kind: 'job', accountId, name: id });

function parse(json: Uint8Array, { id }: JobRef): SecretParts {
  try {
    return JSON.parse(Buffer.from(json).toString('utf8')) as SecretParts;
  } catch {
    // Without the cause, which quotes what it could not read.
    throw new ScrapifieError('DATABASE_CORRUPT', `The options of the job ${id} are damaged. Delete it.`);
  }
}

/** What of a request may hold a log-in, as the API takes it: a scrape has it in the open, the others in `options`. */
export interface SecretFields {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly proxy?: Partial<ProxyOptions> | null | undefined;
  readonly actions?: readonly RenderAction[];
}

/** What a request says of its own webhook. */
interface WebhookFields {
  readonly secret?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface ScheduleRef {
  readonly id: ScheduleId;
  readonly accountId: AccountId;
}

/**
 * The job as it is stored: with a placeholder for each secret, and the whole request sealed beside it. A request without
 * secrets is stored as it is, and so is every request where there is no vault.
 */
export function sealScheduledJob(
  job: ScheduledJob,
  vault: Vault | null,
  schedule: ScheduleRef,
): ScheduledJob {
  if (vault === null || job.sealed !== undefined) return job;
  const shown = hideScheduledJob(job);
  if (shown === job) return job;
  const plain = Buffer.from(JSON.stringify(job.request));
  return { ...shown, sealed: Buffer.from(vault.seal(plain, schedulePlace(schedule))).toString('base64') };
}

/** What `sealScheduledJob` was given. Throws INVALID_SETTINGS without the key, DATABASE_CORRUPT when the row was changed. */
export function openScheduledJob(
  job: ScheduledJob,
  vault: Vault | null,
  schedule: ScheduleRef,
): ScheduledJob {
  const { sealed, ...stored } = job;
  if (sealed === undefined) return job;
  const bytes = Buffer.from(sealed, 'base64');
  if (vault === null) throw lockedBy(bytes, schedulePlace(schedule), null);
  return { ...stored, request: parseRequest(vault.open(bytes, schedulePlace(schedule)), schedule) };
}

/** Seals the job under the vault's present key, what was stored in the open too; null when it is already. */
export function resealScheduledJob(
  job: ScheduledJob,
  vault: Vault,
  schedule: ScheduleRef,
): ScheduledJob | null {
  if (job.sealed === undefined) {
    const sealed = sealScheduledJob(job, vault, schedule);
    return sealed === job ? null : sealed;
  }
  const wrapped = vault.rewrap(Buffer.from(job.sealed, 'base64'), schedulePlace(schedule));
  return wrapped === null ? null : { ...job, sealed: Buffer.from(wrapped).toString('base64') };
}

/** The job that may be shown; the same object when it holds no secret. */
export function hideScheduledJob(job: ScheduledJob): ScheduledJob {
  const request = job.request as Record<string, unknown>;
  const { isSinglePage } = traitsOfKind(job.kind);
  const fields = (isSinglePage ? request : (request.options ?? {})) as SecretFields;
  const page = secretPageOf(fields);
  const shown = hideSecrets(page);
  const webhook = request.webhook as WebhookFields | undefined;
  const shownWebhook = webhook === undefined ? undefined : hideWebhook(webhook);
  if (shown === page && shownWebhook === webhook) return job;
  const hidden: SecretFields = {
    ...fields,
    headers: shown.headers,
    cookies: shown.cookies,
    ...(fields.body == null ? {} : { body: shown.body }),
    ...(page.proxy === null ? {} : { proxy: withFieldsOf(fields.proxy, shown.proxy) }),
    ...(fields.actions === undefined ? {} : { actions: shown.render?.actions ?? [] }),
  };
  const changed = isSinglePage ? hidden : { ...request, options: hidden };
  return { ...job, request: webhook === undefined ? changed : { ...changed, webhook: shownWebhook } };
}

function hideWebhook(webhook: WebhookFields): WebhookFields {
  const { secret, headers } = webhook;
  if (secret === undefined && headers === undefined) return webhook;
  return {
    ...webhook,
    ...(secret === undefined ? {} : { secret: HIDDEN_VALUE }),
    ...(headers === undefined ? {} : { headers: hideValues(headers) }),
  };
}

/** The part of a request that may hold secrets, as page options have it. */
export const secretPageOf = ({
  headers = {},
  cookies = {},
  body = null,
  proxy = null,
  actions = [],
}: SecretFields) =>
  ({
    headers,
    cookies,
    body,
    proxy: ownProxyOf(proxy),
    render: { actions } as unknown as RenderWish,
  }) satisfies SecretHolder;

/** The caller's own proxy, which may have a log-in in its URL; null when there is none. */
function ownProxyOf(proxy: SecretFields['proxy']): ProxyOptions | null {
  const url = proxy?.url ?? proxy?.urls?.[0] ?? null;
  return url === null ? null : ({ ...proxy, url } as ProxyOptions);
}

/** The fields of the hidden proxy that the request has. */
const withFieldsOf = (given: SecretFields['proxy'], hidden: ProxyOptions | null): SecretFields['proxy'] =>
  Object.fromEntries(Object.entries(hidden ?? {}).filter(([name]) => name in (given ?? {})));

const schedulePlace = ({ id, accountId }: ScheduleRef): VaultPlace => ({
  kind: 'schedule',
  accountId,
  name: id,
});

function parseRequest(json: Uint8Array, { id }: ScheduleRef): unknown {
  try {
    return JSON.parse(Buffer.from(json).toString('utf8'));
  } catch {
    // Without the cause, which quotes what it could not read.
    throw new ScrapifieError('DATABASE_CORRUPT', `The job of the schedule ${id} is damaged. Delete it.`);
  }
}
