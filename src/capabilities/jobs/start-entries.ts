import type { AuditEntry } from '../../core/model/audit-chain.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import { type JobKind, traitsOfKind } from '../../core/model/job-kinds.ts';
import type { Consent } from '../../core/model/policy.ts';
import { redactUrl } from '../../core/observe/redact.ts';

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
export function startEntries(start: JobStart, at: number): AuditEntry[] {
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
