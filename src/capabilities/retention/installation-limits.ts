import type { Settings } from '../../core/config/settings.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { combineLimits, type RetentionLimits } from '../../core/model/retention.ts';
import type { Store } from '../../core/ports/store.ts';

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
