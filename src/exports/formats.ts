import { EXPORT_FORMATS, type ExportFormat, type ExportSpec, formatProblem } from '../model/export.ts';
import type { FormatSpec } from './table/format.ts';

/** Every format that can be written. */
const FORMATS: readonly FormatSpec[] = [
  {
    format: 'csv',
    ending: '.csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    takes: 'rows',
    load: async () => (await import('./writers/csv.ts')).writeCsv,
  },
  {
    format: 'xlsx',
    ending: '.xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    takes: 'rows',
    load: async () => (await import('./writers/xlsx.ts')).writeXlsx,
  },
  {
    format: 'json',
    ending: '.json',
    contentType: 'application/json',
    takes: 'rows',
    load: async () => (await import('./writers/json.ts')).writeJson,
  },
  {
    format: 'ndjson',
    ending: '.ndjson',
    contentType: 'application/x-ndjson',
    takes: 'rows',
    load: async () => (await import('./writers/json.ts')).writeNdjson,
  },
  {
    format: 'parquet',
    ending: '.parquet',
    contentType: 'application/vnd.apache.parquet',
    takes: 'rows',
    load: async () => (await import('./writers/parquet.ts')).writeParquet,
  },
  {
    format: 'warc',
    ending: '.warc.gz',
    contentType: 'application/warc',
    takes: 'pages',
    load: async () => (await import('./writers/web-archive.ts')).writeWarc,
  },
  {
    format: 'wacz',
    ending: '.wacz',
    contentType: 'application/wacz',
    takes: 'pages',
    load: async () => (await import('./writers/web-archive.ts')).writeWacz,
  },
  {
    format: 'markdown',
    ending: '.zip',
    contentType: 'application/zip',
    takes: 'pages',
    load: async () => (await import('./writers/markdown-zip.ts')).writeMarkdownZip,
  },
  {
    format: 'chunks',
    ending: '.chunks.ndjson',
    contentType: 'application/x-ndjson',
    takes: 'pages',
    load: async () => (await import('./writers/chunks.ts')).writeChunks,
  },
];

const BY_NAME: ReadonlyMap<ExportFormat, FormatSpec> = new Map(FORMATS.map((spec) => [spec.format, spec]));

/** The formats that this version writes. */
export const WRITABLE_FORMATS: readonly ExportFormat[] = EXPORT_FORMATS.filter((name) => BY_NAME.has(name));

export function formatOf(name: ExportFormat): FormatSpec {
  const spec = BY_NAME.get(name);
  if (spec === undefined) throw new Error(`The format ${name} has no writer.`);
  return spec;
}

/** Why the type cannot be had in the format; null when it can. */
export function formatRefusal(spec: Pick<ExportSpec, 'type' | 'format'>): string | null {
  if (!BY_NAME.has(spec.format)) return `The format "${spec.format}" cannot be written by this version.`;
  return formatProblem(spec);
}
