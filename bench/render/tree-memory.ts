import { readFile } from 'node:fs/promises';
import { treePids } from '../../src/fetch/browser/pool/process-tree.ts';

/** Watches what a program and all its children hold, until it is stopped. */
export interface TreeMemory {
  /** The most at any look; not a number when the machine does not tell. */
  stop(): Promise<number>;
}

const LOOK_EVERY_MS = 500;

/** Memory that several processes map is divided among them (PSS), so that a browser's many processes count it once. */
export function watchMemory(pid: number): TreeMemory {
  let peak = Number.NaN;
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      const sizes = await Promise.all((await treePids(pid)).map(shareOf));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      if (total > 0 && !(total <= peak)) peak = total;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  };
  const looking = look();
  return {
    async stop() {
      isOver = true;
      await looking;
      return peak;
    },
  };
}

async function shareOf(pid: number): Promise<number> {
  try {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1');
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1_024;
  } catch {
    return 0; // The process ended while we looked.
  }
}
