import { setTimeout as delay } from 'node:timers/promises';
import type { S3Mode } from '../s3-fault-layer.ts';
import type { Stage } from '../stage.ts';
import type { Fault } from './fault.ts';

const LOCK = { target: 's3', locks: ['s3'], isPossible: () => true } as const;

/** Everything that may happen to the object store. */
export function s3Faults({ servers, s3 }: Stage): Fault[] {
  const during = (kind: string, mode: S3Mode): Fault => ({
    ...{ ...LOCK, kind, leastMs: 4_000, mostMs: 20_000 },
    async run(durationMs) {
      s3.set(mode);
      await delay(durationMs).finally(() => s3.set('pass'));
    },
  });
  return [
    {
      ...{ ...LOCK, kind: 'down', leastMs: 5_000, mostMs: 20_000 },
      async run(durationMs) {
        await servers.s3.stop();
        await delay(durationMs);
        await servers.s3.restart();
      },
    },
    during('answers 500', 'error'),
    during('answers 503', 'slow-down'),
    during('full (507)', 'full'),
    during('slow', 'slow'),
    during('partial bodies', 'partial'),
    during('half-open', 'swallow'),
    during('unreachable', 'refuse'),
  ];
}
