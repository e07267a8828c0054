import type { Body } from '../../api/types.ts';

export type ExportRequest = Body<'createExport'>;
export type ExportType = ExportRequest['type'];
export type ExportFormat = ExportRequest['format'];

interface Kind<T> {
  readonly value: T;
  readonly label: string;
  readonly about: string;
}

export const EXPORT_TYPES: readonly Kind<ExportType>[] = [
  {
    value: 'full',
    label: 'Full',
    about: 'A row per page with the columns of a catalogue: title, price, availability, pictures.',
  },
  {
    value: 'seo',
    label: 'SEO',
    about: 'A row per page with what search engines read: titles, descriptions, canonicals, robots.',
  },
  { value: 'diff', label: 'Diff', about: 'A row per URL with what has changed since another job.' },
  { value: 'raw', label: 'Raw', about: 'Every stored page, its body included.' },
  { value: 'links', label: 'Links', about: 'A row per link: page, target, text, place.' },
  { value: 'records', label: 'Records', about: 'A row per extracted record, a column per field.' },
  { value: 'results', label: 'Results', about: 'Pages as the API gives them.' },
];

const TABLES = ['csv', 'xlsx', 'json', 'ndjson', 'parquet'] as const satisfies readonly ExportFormat[];
const ARCHIVES = ['warc', 'wacz', 'markdown', 'chunks'] as const satisfies readonly ExportFormat[];

export const FORMAT_NAMES: Readonly<Record<ExportFormat, string>> = {
  csv: 'CSV',
  xlsx: 'Excel',
  json: 'JSON',
  ndjson: 'NDJSON (a line per row)',
  parquet: 'Parquet',
  warc: 'WARC (web archive)',
  wacz: 'WACZ (web archive with index)',
  markdown: 'Markdown (ZIP for language models)',
  chunks: 'Chunks (pieces of texts, a line each)',
};

/** The formats that a type can be written in. */
export const formatsOf = (type: ExportType): readonly ExportFormat[] =>
  type === 'raw' ? [...TABLES, ...ARCHIVES] : TABLES;
