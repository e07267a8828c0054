import { z } from 'zod';
import type { Settings } from '../../core/config/settings.ts';
import type { AccountId } from '../../core/model/ids.ts';
import {
  combineLimits,
  RETAINED_KINDS,
  type RetentionLimits,
  UNLIMITED_RETENTION,
} from '../../core/model/retention.ts';
import type { AccountRetention } from '../../core/ports/account-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { type Actor, noSuchAccount } from '../accounts/accounts.ts';
import { accountAgeFields, retentionAgesOf } from '../jobs/request/retention-fields.ts';

const most = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).nullable().default(null);

export const retentionRequest = z
  .strictObject({
    ...accountAgeFields,
    maxJobs: most.describe('Ended jobs that are kept, the newest; null: all.'),
    maxBytes: most.describe(
      'Bytes of fetched pages that are kept; beyond that the oldest bodies go. null: all.',
    ),
  })
  .meta({ id: 'RetentionRequest', examples: [{ bodies: '24h', jobs: '30d', maxJobs: 1_000 }] });

type LimitsView = ReturnType<typeof limitsView>;

export interface RetentionView {
  /** What the account asked for; null: nothing. */
  readonly own: LimitsView | null;
  /** What the operator set for the account; null: nothing. */
  readonly operator: LimitsView | null;
  /** What holds: the shortest time of account, operator and installation. */
  readonly effective: LimitsView;
}

/** How long data of accounts is kept. Every method throws NOT_FOUND for an account that is not there. */
export interface RetentionAdmin {
  get(account: string): Promise<RetentionView>;
  /** Replaces what the account, or the operator for it, has said before. */
  set(
    account: string,
    by: keyof AccountRetention,
    request: z.output<typeof retentionRequest>,
    actor: Actor,
  ): Promise<RetentionView>;
}

function limitsView({ ages, maxJobs, maxBytes }: RetentionLimits) {
  const times = RETAINED_KINDS.map((kind) => [`${kind}Ms`, ages[`${kind}Ms`] ?? null] as const);
  return {
    ...(Object.fromEntries(times) as Record<`${(typeof RETAINED_KINDS)[number]}Ms`, number | null>),
    maxJobs,
    maxBytes,
  };
}

export interface RetentionAdminParts {
  readonly store: Store;
  /** What the installation keeps at most. */
  readonly installation: RetentionLimits;
  readonly now: () => number;
}

export function createRetentionAdmin({ store, installation, now }: RetentionAdminParts): RetentionAdmin {
  async function get(account: string): Promise<RetentionView> {
    const id = account as AccountId;
    if ((await store.getAccount(id)) === null) throw noSuchAccount(account);
    const { own, operator } = await store.accountRetention(id);
    return {
      own: own === null ? null : limitsView(own),
      operator: operator === null ? null : limitsView(operator),
      effective: limitsView(await limitsOfAccount(store, id, installation)),
    };
  }
  return {
    get,
    async set(account, by, { maxJobs, maxBytes, ...ages }, { actor }) {
      const limits: RetentionLimits = {
        ...UNLIMITED_RETENTION,
        ages: retentionAgesOf(ages) ?? {},
        maxJobs,
        maxBytes,
      };
      if (!(await store.setAccountRetention(account as AccountId, by, limits))) throw noSuchAccount(account);
      const details = { by, ...limitsView(limits) };
      await store.audit([{ at: now(), actor, action: 'account.retention', target: account, details }]);
      return get(account);
    },
  };
}

/** What is kept of the jobs of one account: the shortest time of account, operator and installation counts. */
export async function limitsOfAccount(
  store: Pick<Store, 'accountRetention'>,
  id: AccountId,
  installation: RetentionLimits,
): Promise<RetentionLimits> {
  const { own, operator } = await store.accountRetention(id);
  return [own, operator].reduce<RetentionLimits>(
    (limits, said) => (said === null ? limits : combineLimits(said, limits)),
    installation,
  );
}

type RetentionSettings = Pick<Settings, Extract<keyof Settings, `retention${string}`>>;

const DAY_MS = 86_400_000;
/** 0 in the settings means without limit. */
const limit = (value: number): number | null => (value === 0 ? null : value);
const ageMs = (days: number): number | null => (days === 0 ? null : days * DAY_MS);

export const eventsMsOf = ({ retentionEventsDays }: Pick<Settings, 'retentionEventsDays'>): number =>
  retentionEventsDays * DAY_MS;

/** What the operator keeps of the jobs of every account. */
export function installationLimits(settings: RetentionSettings): RetentionLimits {
  return {
    ages: {
      bodiesMs: ageMs(settings.retentionBodiesDays),
      artifactsMs: ageMs(settings.retentionArtifactsDays),
      recordsMs: ageMs(settings.retentionRecordsDays),
      ledgerMs: ageMs(settings.retentionLedgerDays),
      jobsMs: ageMs(settings.retentionJobsDays),
      exportsMs: ageMs(settings.retentionExportsDays),
      snapshotsMs: ageMs(settings.retentionSnapshotsDays),
    },
    maxJobs: limit(settings.retentionMaxJobs),
    maxBytes: limit(settings.retentionMaxBytes),
  };
}
