import { availableParallelism, cpus, totalmem } from 'node:os';
import { type Bar, isMet, type PartResult, type Table } from './part.ts';
import type { Sample } from './sample.ts';

/** The machine and the moment, without which a figure says nothing. */
export interface Circumstances {
  readonly at: string;
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly isQuick: boolean;
}

export function circumstances(now: number, isQuick: boolean): Circumstances {
  return {
    at: new Date(now).toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    isQuick,
  };
}

export function figure(value: number): string {
  if (Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 1 ? 2 : 3);
}

/** Formats a sample as `1,204 (1,100–1,290)`: the median, and the range around it. */
export function spread({ median, min, max }: Sample): string {
  return min === max ? figure(median) : `${figure(median)} (${figure(min)}–${figure(max)})`;
}

export const megabytes = (bytes: number) => bytes / 1e6;

export function tableOf({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, column) => (column === 0 ? '---' : '---:'));
  return [line(columns), line(rule), ...rows.map(line)].join('\n');
}

export function barsTable(bars: readonly Bar[]): Table {
  return {
    columns: ['bar', 'wanted', 'measured', ''],
    rows: bars.map((bar) => [
      bar.claim,
      bar.atLeast === undefined ? `≤ ${withUnit(bar.atMost ?? 0, bar)}` : `≥ ${withUnit(bar.atLeast, bar)}`,
      `${bar.spread === undefined ? figure(bar.measured) : spread(bar.spread)}${bar.unit === '' ? '' : ` ${bar.unit}`}`,
      isMet(bar) ? 'met' : '**missed**',
    ]),
  };
}

function withUnit(value: number, { unit }: Bar): string {
  return unit === '' ? figure(value) : `${figure(value)} ${unit}`;
}

export interface Measured {
  readonly where: Circumstances;
  readonly result: PartResult;
}

/** All of it as a page to read. */
export function pageOf(all: readonly Measured[]): string {
  const sections = all.map(({ where, result: { title, about, tables, notes } }) => {
    const parts = [`## ${title}`, about, ...tables.map(tableOf)];
    if (notes.length > 0) parts.push(notes.map((note) => `- ${note}`).join('\n'));
    parts.push(`_${sentenceOf(where)}_`);
    return parts.join('\n\n');
  });
  return `${[
    '# Figures',
    'Written by `make bench`; `docs/performance.md` says how to read it. Ratios count: they come from rounds in which the contestants took turns. Medians, with the lowest and the highest round in brackets.',
    ...(all.some(({ where }) => where.isQuick) ? ['**A quick run: too short to judge by.**'] : []),
    tableOf(barsTable(all.flatMap(({ result }) => result.bars))),
    ...sections,
  ].join('\n\n')}\n`;
}

function sentenceOf({ at, node, platform, cpu, cores, memoryGb }: Circumstances): string {
  const day = at.slice(0, 16).replace('T', ' ');
  return `${day} UTC, Node.js ${node}, ${platform}, ${cores} cores (${cpu}), ${memoryGb} GB.`;
}
