import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Lines that come in any order and are read in the order of their bytes, with constant memory. */
export interface SortedLines {
  /** The line ends in a line feed and holds no other. */
  add(line: string): Promise<void>;
  read(): AsyncGenerator<string>;
  /** Removes what was put to the disk. */
  close(): Promise<void>;
}

const RUN_CHARS = 4_194_304;

export function createSortedLines(runChars = RUN_CHARS): SortedLines {
  let lines: string[] = [];
  let chars = 0;
  let dir: string | null = null;
  const runs: string[] = [];

  async function putRun(): Promise<void> {
    dir ??= await mkdtemp(join(tmpdir(), 'scrapifie-sort-'));
    const path = join(dir, String(runs.length));
    await writeFile(path, lines.sort(inOrder).join(''), { mode: 0o600 });
    runs.push(path);
    lines = [];
    chars = 0;
  }

  return {
    async add(line) {
      lines.push(line);
      chars += line.length;
      if (chars >= runChars) await putRun();
    },
    async *read() {
      const sources = [...runs.map(linesIn), fromMemory(lines.sort(inOrder))];
      const heads = await Promise.all(sources.map((source) => source.next()));
      try {
        for (;;) {
          let least = -1;
          for (const [at, head] of heads.entries()) {
            if (head.done === true) continue;
            const best = heads[least];
            if (best === undefined || best.done === true || inOrder(head.value, best.value) < 0) least = at;
          }
          const head = heads[least];
          const source = sources[least];
          if (head === undefined || head.done === true || source === undefined) return;
          yield head.value;
          heads[least] = await source.next();
        }
      } finally {
        await Promise.all(sources.map((source) => source.return(undefined)));
      }
    },
    async close() {
      if (dir !== null) await rm(dir, { recursive: true, force: true });
    },
  };
}

/** By code units: indexes hold ASCII, apart from what stands behind the key. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

async function* linesIn(path: string): AsyncGenerator<string, undefined> {
  const stream = createReadStream(path, 'utf8');
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      yield `${line}\n`;
    }
  } finally {
    stream.destroy();
  }
  return undefined;
}

async function* fromMemory(lines: readonly string[]): AsyncGenerator<string, undefined> {
  yield* lines;
  return undefined;
}
