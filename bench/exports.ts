import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ExportFormat, PAGE_FORMATS } from '../src/core/model/export-registry.ts';
import { LAUNCH_ENVIRONMENT, LAUNCH_FLAGS } from './launch.ts';
import type { Bar, BenchOptions, Part } from './part.ts';
import { figure, megabytes, spread } from './report.ts';
import { ratios, rotated, type Sample, sampleOf } from './sample.ts';

const RUN = fileURLToPath(new URL('./exports/run.ts', import.meta.url));
/** The formats that are measured, each with the library that it is measured against. */
const LIBRARIES: Readonly<Partial<Record<ExportFormat, string>>> = {
  csv: 'csv-stringify',
  xlsx: 'hucre',
  json: 'JSON.stringify',
  ndjson: 'JSON.stringify',
  parquet: 'hyparquet-writer',
  warc: 'warcio',
  wacz: 'warcio and fflate',
  markdown: 'fflate',
  chunks: 'JSON.stringify',
};
/** `rows` once for the memory; the others in turns with the library, for the ratio. */
const FULL = { rows: 1_000_000, turnRows: 100_000, turnPages: 5_000, rounds: 3 };
const QUICK = { rows: 10_000, turnRows: 5_000, turnPages: 500, rounds: 1 };
const LEAST_SHARE = 0.7;
const MOST_GROWN_MB = 100;

interface Side {
  readonly rows: number;
  readonly rowsPerSecond: number;
  /** CPU time of all threads: other programs on the machine do not count. */
  readonly cpuSeconds: number;
  readonly grownBytes: number;
  /** At a quarter, a half, three quarters and the end: memory that grows with the rows shows here. */
  readonly grownAtQuarters: readonly number[];
  readonly bytes: number;
}

async function measure(format: ExportFormat, side: 'ours' | 'bare', rows: number): Promise<Side> {
  const child = spawn(process.execPath, [...LAUNCH_FLAGS, RUN, format, side, String(rows)], {
    env: { ...process.env, ...LAUNCH_ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (status !== 0) throw new Error(`${format}, ${side}: ${errors.slice(0, 2_000)}`);
  return { rows, ...(JSON.parse(out) as Omit<Side, 'rows'>) };
}

interface Figures {
  readonly format: ExportFormat;
  /** All rows, written once. */
  readonly whole: Side;
  /** Rows a second of the library alone. */
  readonly bare: number;
  readonly share: Sample;
  readonly cpuShare: Sample;
}

async function figuresOf(format: ExportFormat, sizes: typeof FULL): Promise<Figures> {
  const turn = PAGE_FORMATS.includes(format) ? sizes.turnPages : sizes.turnRows;
  const sides = { bare: [] as Side[], ours: [] as Side[] };
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const side of rotated(['bare', 'ours'] as const, round)) {
      sides[side].push(await measure(format, side, turn));
    }
  }
  const rates = (side: readonly Side[]) => side.map(({ rowsPerSecond }) => rowsPerSecond);
  const costs = (side: readonly Side[]) => side.map(({ cpuSeconds }) => cpuSeconds);
  return {
    format,
    whole: await measure(format, 'ours', sizes.rows),
    bare: sampleOf(rates(sides.bare)).median,
    share: sampleOf(ratios(rates(sides.ours), rates(sides.bare))),
    cpuShare: sampleOf(ratios(costs(sides.bare), costs(sides.ours))),
  };
}

/** What exports cost beside the library of their format alone: the same rows or pages, each side in a process of its own. */
export const exports: Part = {
  name: 'exports',
  async run({ isQuick, say }: BenchOptions) {
    const sizes = isQuick ? QUICK : FULL;
    const measured: Figures[] = [];
    for (const format of Object.keys(LIBRARIES) as ExportFormat[]) {
      const figures = await figuresOf(format, sizes);
      measured.push(figures);
      const { whole, bare, share } = figures;
      say(
        `${format}: ${figure(whole.rowsPerSecond)} rows/s, ${LIBRARIES[format]} alone ${figure(bare)} (${spread(share)} ×), memory +${figure(megabytes(whole.grownBytes))} MB`,
      );
    }
    const { rows } = sizes;
    const bars = measured.flatMap(({ format, whole, share }): Bar[] => [
      ...(format === 'chunks'
        ? []
        : [
            {
              claim: `${format}: rows per second, beside ${LIBRARIES[format]} alone`,
              measured: share.median,
              spread: share,
              atLeast: LEAST_SHARE,
              unit: '×',
            },
          ]),
      {
        claim: `${format}: growth of memory over ${figure(rows)} rows`,
        measured: megabytes(whole.grownBytes),
        atMost: MOST_GROWN_MB,
        unit: 'MB',
      },
    ]);
    const names = ['format', 'rows/s', 'library', 'alone, rows/s', 'ratio', 'by CPU time', 'file MB'];
    return {
      title: 'Exports',
      about: `${figure(rows)} rows of a catalogue, or small pages, written in each format by the thread that writes exports, and by the library of the format alone as its documentation shows it.`,
      tables: [
        {
          columns: [...names, 'memory + MB', 'at each quarter'],
          rows: measured.map(({ format, whole, bare, share, cpuShare }) => [
            format,
            figure(whole.rowsPerSecond),
            LIBRARIES[format] ?? '',
            figure(bare),
            `${spread(share)} ×`,
            `${spread(cpuShare)} ×`,
            figure(megabytes(whole.bytes)),
            figure(megabytes(whole.grownBytes)),
            whole.grownAtQuarters.map((bytes) => figure(Math.round(megabytes(bytes)))).join(' · '),
          ]),
        },
      ],
      bars,
      notes: [
        'Memory is the resident memory of the process beyond that before the thread was started, so the thread itself (50 MB) is part of it.',
        `The ratios are of ${sizes.rounds} rounds of ${figure(sizes.turnRows)} rows, or ${figure(sizes.turnPages)} pages, in turns; memory, rate and size of all ${figure(rows)}.`,
        'No library makes chunks. `JSON.stringify` of every paragraph stands beside them without a bar: it counts no tokens and gathers no headings.',
      ],
      data: measured,
    };
  },
};
