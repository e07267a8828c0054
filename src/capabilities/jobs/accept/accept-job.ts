import { SpanKind } from '@opentelemetry/api';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { AccountId, HostKey, JobId, KeyId, MonitorId, WebhookId } from '../../../core/model/ids.ts';
import type { CredentialAccess, Job, JobOptions, NewJob, PageOptions } from '../../../core/model/job.ts';
import { type JobKind, traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { Consent } from '../../../core/model/policy.ts';
import { rankOf } from '../../../core/model/turns.ts';
import { redactUrl } from '../../../core/observe/redact.ts';
import type { AuditEntry } from '../../../core/ports/audit-store.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { HostOffer } from '../../../core/ports/host-store.ts';
import type { CreatedJob } from '../../../core/ports/job-store.ts';
import type { Queue } from '../../../core/ports/queue.ts';
import type { Store } from '../../../core/ports/store.ts';
import { endWith, isTracing, startSpan, traceJobEnd, traceparentOf } from '../../../core/tracing/tracing.ts';
import { defined } from '../../../lib/defined.ts';
import { isLimited, requireCredentialAccess } from '../../sessions/credential.ts';
import { sealOptions } from '../../sessions/job-secrets.ts';
import type { Vault } from '../../sessions/vault.ts';
import type { JobWebhook } from '../request/webhook-fields.ts';
import type { AccountIntake } from './account-intake.ts';
import type { JobDraft, OperatorOptions } from './job-draft.ts';

/** What the maker of a job says besides its request. */
export interface Given {
  /** The id the job gets, when it had to be known before; see `newId`. */
  readonly id?: JobId;
  readonly operator?: OperatorOptions;
  /** What the job may do with stored credentials; `use` by default. */
  readonly credentials?: CredentialAccess;
  /** The page whose log-in form the body of the request was made from; see `PageOptions.fillBodyFrom`. */
  readonly fillBodyFrom?: string;
  /** The run of a schedule that the job is for; `id` is the one that the run has. */
  readonly run?: NonNullable<NewJob['run']>;
  /** The check of a monitor that the job is. */
  readonly monitor?: { readonly id: MonitorId; readonly round: number };
  /** Has the same meaning as `JobOptions.secretOrigins`. */
  readonly secretOrigins?: readonly string[];
  /** Where its events are sent; a webhook of the request itself goes first. */
  readonly webhook?: JobWebhook | undefined;
  /** Has the same meaning as `JobOptions.traceParent`. */
  readonly traceParent?: string;
  /** Has the same meaning as `JobOptions.shownAs`. */
  readonly shownAs?: JobOptions['shownAs'];
  /** Ends the wait, never the job. */
  readonly signal?: AbortSignal;
  /** The actor for the audit log; defaults to the account. */
  readonly startedBy?: { readonly actor: string; readonly address: string; readonly keyId?: KeyId };
}

export interface AcceptanceDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly queue: Pick<Queue, 'offer'>;
  readonly now: () => number;
  readonly random: () => number;
  /** Encrypts secrets in options before they are stored; null or left out: options are stored as they are. */
  readonly vault?: Vault | null;
  /** Why this installation cannot serve the request; null when it can, or when this process does not know. */
  readonly refusalOf?: (page: PageOptions) => ScrapifieError | null;
  /** Why no page can be stored at the moment: new work is refused with it; null when pages can be stored. */
  readonly storageRefusal?: () => ScrapifieError | null;
  /** Stores the webhook of a job and returns its id; left out: requests with a webhook are refused. */
  readonly addWebhook?: (account: AccountId, job: JobId, webhook: JobWebhook) => Promise<WebhookId>;
  /** The most microcredits that one attempt of the job may cost; left out: nothing is reserved. */
  readonly reserveFor?: (options: JobOptions, hosts: readonly HostKey[]) => number;
  /** Called with each new job before its hosts are offered; saves the worker a read of the store. */
  readonly onAccepted?: (job: Job) => void;
}

/** From a draft to a job that is stored and offered. */
export interface Acceptance {
  /** Returns the draft, or throws what it is refused for: what cannot be done here is not tried. */
  possible(draft: JobDraft): JobDraft;
  /** Throws when the session of the job needs rights that its caller has not. */
  requireAccess(options: JobOptions, accountId: AccountId): Promise<void>;
  /** Throws DISK_FULL while what comes of new work could not be kept. */
  requireRoom(): void;
  /** Resolves when the job and its first tasks are committed; only then its hosts are offered. */
  accept(draft: JobDraft, accountId: AccountId, given: Given, isUnsynced?: boolean): Promise<CreatedJob>;
  /** Offers hosts with ready tasks to the workers. */
  offer(offers: readonly HostOffer[]): void;
}

/** Offers made at once; hosts beyond are offered by the sweep of the store. */
export const MAX_OFFERS = 1_000;

export function createAcceptance(
  deps: AcceptanceDeps,
  { newId, intake }: { readonly newId: () => JobId; readonly intake: Pick<AccountIntake, 'admit'> },
): Acceptance {
  const { store, bus, queue, now } = deps;

  /** Before anything is stored: what cannot be done here is refused and not tried. */
  function possible(draft: JobDraft): JobDraft {
    const { page, routes = [] } = draft.options;
    for (const asked of [page, ...routes.map((route) => ({ ...page, ...route.page }))]) {
      const refusal = deps.refusalOf?.(asked) ?? null;
      if (refusal !== null) throw refusal;
    }
    return draft;
  }

  /** After the commit only. A lost offer costs seconds: the sweep makes it again. */
  function offer(offers: readonly HostOffer[]): void {
    if (offers.length === 0) return;
    const entries = offers.slice(0, MAX_OFFERS).map(({ key, rank }) => ({ id: key, rank }));
    queue.offer('scrape-http', entries).catch(() => undefined);
    bus.publish('host.ready', { hosts: offers.map((each) => each.key) });
  }

  /** Early, for the caller's sake; the attempt looks again, because sessions come and go. */
  async function requireAccess(options: JobOptions, accountId: AccountId): Promise<void> {
    const { session } = options.page;
    if (session === null || !isLimited(options)) return;
    const stored = await store.getSession(accountId, session);
    if (stored !== null && stored.wish.credentials !== null) requireCredentialAccess(options);
  }

  /** Before the job: one without events harms nothing, and a job must not begin without its webhook. */
  function addWebhook(account: AccountId, id: JobId, webhook: JobWebhook): Promise<WebhookId> {
    if (deps.addWebhook !== undefined) return deps.addWebhook(account, id, webhook);
    throw new ScrapifieError('UNSUPPORTED_OPTION', 'Only a server sends webhooks.');
  }

  function requireRoom(): void {
    const full = deps.storageRefusal?.() ?? null;
    if (full !== null) throw full;
  }

  async function create(
    draft: JobDraft,
    accountId: AccountId,
    { id = newId(), credentials = 'use', fillBodyFrom, startedBy, webhook, run, monitor, ...given }: Given,
    isUnsynced: boolean,
  ): Promise<CreatedJob> {
    requireRoom();
    const { kind, seeds, tasks, sources, usedConsents } = draft;
    const page = fillBodyFrom === undefined ? draft.options.page : { ...draft.options.page, fillBodyFrom };
    const options: JobOptions = {
      ...draft.options,
      page,
      credentials,
      ...(sources === undefined ? {} : { hasSources: true }),
      ...defined({
        shownAs: given.shownAs,
        secretOrigins: given.secretOrigins,
        traceParent: given.traceParent,
      }),
      ...(monitor === undefined ? {} : { monitorId: monitor.id, monitorRound: monitor.round }),
      ...(webhook === undefined ? {} : { webhookId: await addWebhook(accountId, id, webhook) }),
    };
    await requireAccess(options, accountId);
    await intake.admit(accountId, tasks.length);
    // Before the job: it must not run without an audit entry of its actor and of the consents it uses.
    const entries = startEntries(
      { id, kind, accountId, seeds, urls: tasks.length, usedConsents, startedBy },
      now(),
    );
    if (entries.length > 0) await store.audit(entries);
    const hosts = new Set<HostKey>();
    for (const task of tasks) hosts.add(task.hostKey);
    const stored = sealOptions(options, deps.vault ?? null, { id, accountId });
    const draftedJob: NewJob = {
      id,
      accountId,
      kind,
      options: stored,
      seeds,
      keyId: startedBy?.keyId ?? null,
      reserveMicrocredits: deps.reserveFor?.(options, [...hosts]) ?? 0,
      ...defined({ sources, run }),
    };
    const job = await store.createJob(draftedJob, tasks, { isUnsynced });
    if (job.finishedAt === null) deps.onAccepted?.({ ...job, options });
    const rank = rankOf({ kind, size: tasks.length }, job.createdAt);
    offer([...hosts].map((key) => ({ key, rank })));
    return job;
  }

  return {
    possible,
    requireAccess,
    requireRoom,
    accept: (draft, accountId, given, isUnsynced = false) =>
      inJobSpan(draft, given, (traced) => create(draft, accountId, traced, isUnsynced)),
    offer,
  };
}

/**
 * Makes a job in a span of its own, which ends when the job is stored: all that is done for the job later, in whichever
 * process, is below it. So the tree is whole from the beginning, and no process has to live until the job has ended.
 */
function inJobSpan<T extends Job>(
  { kind, tasks }: Pick<JobDraft, 'kind' | 'tasks'>,
  given: Given,
  create: (given: Given) => Promise<T>,
): Promise<T> {
  const attributes = { 'scrapifie.job.kind': kind, 'scrapifie.job.urls': tasks.length };
  const span = isTracing() ? startSpan(`create ${kind}`, { kind: SpanKind.PRODUCER, attributes }) : null;
  if (span === null) return create(given);
  return endWith(span, async () => {
    const job = await create(span.isRecording() ? { ...given, traceParent: traceparentOf(span) } : given);
    span.setAttribute('scrapifie.job.id', job.id);
    traceJobEnd(job);
    return job;
  });
}

interface JobStart {
  readonly id: JobId;
  readonly kind: JobKind;
  readonly accountId: AccountId;
  readonly seeds: readonly string[];
  readonly urls: number;
  readonly usedConsents: readonly Consent[];
  readonly startedBy?: { readonly actor: string; readonly address: string } | undefined;
}

const SHOWN_SEEDS = 10;
const SHOWN_CHARS = 500;

/**
 * What the audit log says of a new job. A scrape of a single page is there only when it uses a consent: there may be
 * thousands in a second, each is a row among the jobs, and the first use of a key for it is recorded each day.
 */
function startEntries(start: JobStart, at: number): AuditEntry[] {
  const { id, kind, urls, usedConsents } = start;
  const { actor, address } = start.startedBy ?? { actor: start.accountId, address: undefined };
  const seeds = start.seeds.slice(0, SHOWN_SEEDS).map((seed) => redactUrl(seed.slice(0, SHOWN_CHARS)));
  const common = { at, actor, target: id };
  const from = address === undefined ? {} : { address };
  const entries: AuditEntry[] = [];
  if (traitsOfKind(kind).isAudited) {
    entries.push({ ...common, action: 'job.start', details: { kind, seeds, urls, ...from } });
  }
  if (usedConsents.length > 0) {
    entries.push({ ...common, action: 'consent.use', details: { consents: usedConsents, seeds, ...from } });
  }
  return entries;
}
