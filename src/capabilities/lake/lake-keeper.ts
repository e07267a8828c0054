import type { AccountId } from '../../core/model/ids.ts';
import type { Consumer, Queue } from '../../core/ports/queue.ts';
import { collectOrphans, collectReplaced } from './collect-files.ts';
import { type CompactionReport, compactLake } from './compact.ts';
import type { LakeParts } from './lake-parts.ts';
import { writeManifest } from './manifest.ts';

/** Keeps the lakes of all accounts in order, in one process at a time: manifests, compaction, files of no one. */
export interface LakeKeeper {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** One round over all accounts. */
  run(): Promise<void>;
}

export interface LakeKeeperDeps extends LakeParts {
  readonly queue: Pick<Queue, 'every'>;
}

const TICK_MS = 5_000;
const ACCOUNTS_AT_ONCE = 100;
/** The most steps for one account in one round, so that accounts do not wait for one with a large lake. */
const STEPS_AT_ONCE = 20;
/** Deleting a job changes no file, so lakes that have not changed are looked at as well. */
const LOOK_AGAIN_MS = 60_000;
const ORPHANS_EVERY_MS = 3_600_000;
/** Accounts that are remembered; one that is forgotten is looked at once more. */
const MOST_REMEMBERED = 10_000;

export function createLakeKeeper(deps: LakeKeeperDeps): LakeKeeper {
  const { store, queue, now, logger } = deps;
  const stopping = new AbortController();
  const looked = new Map<AccountId, { readonly version: number; readonly at: number }>();
  let orphansAt = Number.NEGATIVE_INFINITY;
  let timer: Consumer | null = null;

  async function look(accountId: AccountId, version: number): Promise<CompactionReport | null> {
    const last = looked.get(accountId);
    if (last !== undefined && last.version === version && now() - last.at < LOOK_AGAIN_MS) return null;
    if (looked.size >= MOST_REMEMBERED) looked.clear();
    looked.set(accountId, { version, at: now() });
    return compactLake(accountId, deps, { mostSteps: STEPS_AT_ONCE, signal: stopping.signal });
  }

  async function run(): Promise<void> {
    let after: AccountId | null = null;
    for (;;) {
      const lakes = await store.listLakes({ after, limit: ACCOUNTS_AT_ONCE });
      for (const lake of lakes) {
        if (stopping.signal.aborted) return;
        after = lake.accountId;
        try {
          const done = await look(lake.accountId, lake.version);
          if (done !== null && done.replacedFiles > 0)
            logger.debug({ accountId: lake.accountId, ...done }, 'lake: compacted');
          const isSame = done === null || done.replacedFiles === 0;
          const version = isSame ? lake.version : lake.version + 1;
          await writeManifest({ ...lake, version }, deps);
        } catch (error) {
          // One account must not keep the others from their turn.
          logger.warn({ err: error, accountId: lake.accountId }, 'lake: an account was not kept in order');
        }
      }
      if (lakes.length < ACCOUNTS_AT_ONCE) break;
    }
    await collectReplaced(deps);
    if (now() - orphansAt < ORPHANS_EVERY_MS) return;
    orphansAt = now();
    const orphans = await collectOrphans(deps);
    if (orphans > 0) logger.info({ files: orphans }, 'lake: files of no one were removed');
  }

  return {
    run,
    async start() {
      timer = await queue.every('lake', TICK_MS, run);
    },
    async stop() {
      stopping.abort();
      await timer?.stop();
    },
  };
}
