import { useEffect, useState } from 'react';
import type { Job } from '../../api/types.ts';
import { isOpen } from './queries.ts';

interface Sample {
  readonly at: number;
  readonly ended: number;
}

/** The rate is that of the last half minute. */
const WINDOW_MS = 30_000;
const LEAST_MS = 2_000;

/** URLs that a running job ends in a second, by the counters seen so far; null until two of them are known. */
export function useRate(job: Job): number | null {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const { known, open } = job.progress;
  useEffect(() => {
    const at = Date.now();
    setSamples((before) => [
      ...before.filter((sample) => at - sample.at < WINDOW_MS),
      { at, ended: known - open },
    ]);
  }, [known, open]);
  const first = samples[0];
  const last = samples.at(-1);
  if (!isOpen(job) || first === undefined || last === undefined || last.at - first.at < LEAST_MS) return null;
  return ((last.ended - first.ended) * 1000) / (last.at - first.at);
}
