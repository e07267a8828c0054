import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { EXPORT_FORMATS, type ExportFormat, PAGE_FORMATS } from '../src/model/export.ts';
import { LAUNCH_ENVIRONMENT, LAUNCH_FLAGS } from './launch.ts';
import type { Bar, BenchOptions, Part } from './part.ts';
import { figure, megabytes } from './report.ts';

const RUN = fileURLToPath(new URL('./exports/run.ts', import.meta.url));
const LIBRARIES: Readonly<Record<ExportFormat, string>> = {
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
const FULL = { rows: 1_000_000, barePages: 20_000 };
const QUICK = { rows: 10_000, barePages: 1_000 };
const LEAST_SHARE = 0.7;
const MOST_GROWN_MB = 100;

interface Side {
  readonly rows: number;
  readonly rowsPerSecond: number;
  /** Of all threads: what others do on the machine does not count. */
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

/** What exports cost beside the library of their format alone: the same rows or pages, each side in a process of its own. */
export const exports: Part = {
  name: 'exports',
  async run({ isQuick, say }: BenchOptions) {
    const { rows, barePages } = isQuick ? QUICK : FULL;
    const measured: { format: ExportFormat; ours: Side; bare: Side; share: number; cpuShare: number }[] = [];
    for (const format of EXPORT_FORMATS) {
      const bare = await measure(format, 'bare', PAGE_FORMATS.includes(format) ? barePages : rows);
      const ours = await measure(format, 'ours', rows);
      const cpuPerRow = ({ cpuSeconds, rows: count }: Side) => cpuSeconds / count;
      const share = ours.rowsPerSecond / bare.rowsPerSecond;
      measured.push({ format, ours, bare, share, cpuShare: cpuPerRow(bare) / cpuPerRow(ours) });
      say(
        `${format}: ${figure(ours.rowsPerSecond)} rows/s, ${LIBRARIES[format]} alone ${figure(bare.rowsPerSecond)} (${share.toFixed(2)} ×), memory +${figure(megabytes(ours.grownBytes))} MB`,
      );
    }
    const bars = measured.flatMap(({ format, ours, share }): Bar[] => [
      ...(format === 'chunks'
        ? []
        : [
            {
              claim: `${format}: rows per second, beside ${LIBRARIES[format]} alone`,
              measured: share,
              atLeast: LEAST_SHARE,
              unit: '×',
            },
          ]),
      {
        claim: `${format}: growth of memory over ${figure(rows)} rows`,
        measured: megabytes(ours.grownBytes),
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
          rows: measured.map(({ format, ours, bare, share, cpuShare }) => [
            format,
            figure(ours.rowsPerSecond),
            LIBRARIES[format],
            figure(bare.rowsPerSecond),
            `${share.toFixed(2)} ×`,
            `${cpuShare.toFixed(2)} ×`,
            figure(megabytes(ours.bytes)),
            figure(megabytes(ours.grownBytes)),
            ours.grownAtQuarters.map((bytes) => figure(Math.round(megabytes(bytes)))).join(' · '),
          ]),
        },
      ],
      bars,
      notes: [
        'Memory is the resident memory of the process beyond that before the thread was started, so the thread itself (50 MB) is part of it.',
        `The libraries of whole pages (${PAGE_FORMATS.join(', ')}) write ${figure(barePages)} pages, because some of them are slow; their rate does not depend on it.`,
        'No library makes chunks. `JSON.stringify` of every paragraph stands beside them without a bar: it counts no tokens and gathers no headings.',
      ],
      data: measured,
    };
  },
};
