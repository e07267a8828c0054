import { afterAll, describe, expect, test } from 'vitest';

/** A driver opened for one case on a place of its own: an empty folder, schema or prefix. */
export interface Opened<D> {
  readonly driver: D;
  close(): Promise<void>;
  /** Opens the same place again without closing the driver first, as after a kill. */
  reopen?(): Promise<Opened<D>>;
}

export type Open<D> = () => Promise<Opened<D>>;

/** A case that a driver cannot hold, and why. */
export interface Skip {
  readonly case: string;
  readonly reason: string;
}

/** Declares one case: a claim and the body that shows it on a fresh driver. */
export type Claim<D> = (claim: string, show: (driver: D, opened: Opened<D>) => Promise<void>) => void;

/**
 * Runs a contract's cases on one driver, each on a fresh place. A skip must name a case that exists, so that none
 * outlives the case it was for.
 */
export function contract<D>(
  title: string,
  open: Open<D>,
  skips: readonly Skip[],
  declare: (holds: Claim<D>) => void,
): void {
  describe(title, () => {
    const declared = new Set<string>();
    const reasons = new Map(skips.map((skip) => [skip.case, skip.reason]));
    declare((claim, show) => {
      declared.add(claim);
      const reason = reasons.get(claim);
      if (reason !== undefined) {
        test.skip(`${claim} (skipped: ${reason})`);
        return;
      }
      test(claim, async () => {
        const opened = await open();
        try {
          await show(opened.driver, opened);
        } finally {
          await opened.close();
        }
      });
    });
    afterAll(() => {
      expect(skips.map((skip) => skip.case).filter((name) => !declared.has(name))).toEqual([]);
    });
  });
}

/** Opens the place again as after a kill and closes both drivers in the end. */
export async function afterKill<D>(opened: Opened<D>, show: (driver: D) => Promise<void>): Promise<void> {
  if (opened.reopen === undefined) throw new Error('Give `reopen`, or skip this case with a reason.');
  const again = await opened.reopen();
  try {
    await show(again.driver);
  } finally {
    await again.close();
  }
}
