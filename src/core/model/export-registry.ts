interface ExportTypeSpec {
  /** The name in lists of the dashboard. */
  readonly label: string;
  /** For the API: what a row is. */
  readonly about: string;
  /** The sentence that the dashboard shows. */
  readonly sentence: string;
  /** The words in the help of `scrapifie export`. */
  readonly help: string;
  /** The text of docs/exports.md about the type. */
  readonly docs: string;
  /** The type compares two jobs: a request has to name the other one, so no job can ask for it before it has begun. */
  readonly isOfTwoJobs?: true;
}

/** What an export can hold of a job. How the rows of a type are made is in `capabilities/exports/sources/open-table.ts`. */
export const EXPORT_TYPE_SPECS = {
  full: {
    label: 'Full',
    about: 'a row per page with the columns of a catalogue',
    sentence: 'A row per page with the columns of a catalogue: title, price, availability, pictures.',
    help: 'a row per page with title, price, availability, pictures …',
    docs: 'a row per page with the columns of a catalogue',
  },
  seo: {
    label: 'SEO',
    about: 'a row per page with what search engines read',
    sentence: 'A row per page with what search engines read: titles, descriptions, canonicals, robots.',
    help: 'a row per page with title, description, canonical, hreflang …',
    docs: 'a row per page with what search engines read',
  },
  diff: {
    label: 'Diff',
    about: 'a row per URL with what has changed since another job',
    sentence: 'A row per URL with what has changed since another job.',
    help: 'a row per URL with what has changed since the job that --against names',
    docs: 'a row per URL of this job and of `against`, an earlier one, with what has changed',
    isOfTwoJobs: true,
  },
  raw: {
    label: 'Raw',
    about: 'every stored page, body included',
    sentence: 'Every stored page, its body included.',
    help: 'every stored page with its record and body',
    docs: 'every stored page: response, everything that was read out of it (`record`), and the body where it is text',
  },
  links: {
    label: 'Links',
    about: 'a row per link',
    sentence: 'A row per link: page, target, text, place.',
    help: 'a row per link',
    docs: 'a row per link: page, position, target, text, `rel`, where it stood',
  },
  records: {
    label: 'Records',
    about: 'a row per extracted record',
    sentence: 'A row per extracted record, a column per field.',
    help: 'a row per extracted record, with a column for each field',
    docs: 'a row per extracted record, with a column per field (`offer.price`); the pages are read twice',
  },
  results: {
    label: 'Results',
    about: 'pages as `/results` gives them',
    sentence: 'Pages as the API gives them.',
    help: 'the pages as the API shows them (the default)',
    docs: 'pages as `GET /v1/jobs/:id/results` gives them; in tables with a column per field, `extracted.price`',
  },
} as const satisfies Readonly<Record<string, ExportTypeSpec>>;

interface ExportFormatSpec {
  /** The name in lists of the dashboard. */
  readonly label: string;
  /** What it is written from: the rows of any type, or whole pages, which only the type `raw` has. */
  readonly takes: 'rows' | 'pages';
  /** Ending of the file's name, with its dot. */
  readonly ending: string;
  readonly contentType: string;
  /** The file `exports/writers/NAME.ts`, whose `writers` has a function of the format's name. */
  readonly writer: string;
  /** The file may begin with a byte order mark, by which Excel knows that it is UTF-8: `excel` of a request asks for that. */
  readonly takesByteOrderMark?: true;
  /** For the API, where the name of the format does not say what it is. */
  readonly about?: string;
  /** The text of docs/exports.md about the format. */
  readonly docs: string;
}

/**
 * The one registry of export formats. Requests, the command line, the tools for language models, the forms of the dashboard and the
 * tables of docs/exports.md have their formats from it.
 */
export const EXPORT_FORMAT_SPECS = {
  csv: {
    label: 'CSV',
    takes: 'rows',
    ending: '.csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    writer: 'csv',
    takesByteOrderMark: true,
    docs: 'RFC 4180 in UTF-8',
  },
  xlsx: {
    label: 'Excel',
    takes: 'rows',
    ending: '.xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    writer: 'xlsx',
    docs: 'Excel; another sheet after each 1,048,576 rows',
  },
  json: {
    label: 'JSON',
    takes: 'rows',
    ending: '.json',
    contentType: 'application/json',
    writer: 'json',
    docs: 'one array',
  },
  ndjson: {
    label: 'NDJSON (a line per row)',
    takes: 'rows',
    ending: '.ndjson',
    contentType: 'application/x-ndjson',
    writer: 'json',
    docs: 'one object per line',
  },
  parquet: {
    label: 'Parquet',
    takes: 'rows',
    ending: '.parquet',
    contentType: 'application/vnd.apache.parquet',
    writer: 'parquet',
    docs: 'typed columns, row groups of at most 10,000 rows or about 2 MB',
  },
  warc: {
    label: 'WARC (web archive)',
    takes: 'pages',
    ending: '.warc.gz',
    contentType: 'application/warc',
    writer: 'web-archive',
    docs: 'a [web archive](archives.md): requests, responses, revisits, rendered documents',
  },
  wacz: {
    label: 'WACZ (web archive with index)',
    takes: 'pages',
    ending: '.wacz',
    contentType: 'application/wacz',
    writer: 'web-archive',
    docs: 'the same as a WACZ file, with an index and a list of pages',
  },
  markdown: {
    label: 'Markdown (ZIP for language models)',
    takes: 'pages',
    ending: '.zip',
    contentType: 'application/zip',
    writer: 'markdown-zip',
    about: 'a ZIP for language models',
    docs: 'a ZIP: `llms.txt`, `llms-full.txt`, and a Markdown file with front matter for each page',
  },
  chunks: {
    label: 'Chunks (pieces of texts, a line each)',
    takes: 'pages',
    ending: '.chunks.ndjson',
    contentType: 'application/x-ndjson',
    writer: 'chunks',
    about: 'pieces of texts, one per line',
    docs: "one piece of a page's text per line, with its headings and number of tokens",
  },
} as const satisfies Readonly<Record<string, ExportFormatSpec>>;

export type ExportType = keyof typeof EXPORT_TYPE_SPECS;
export type ExportFormat = keyof typeof EXPORT_FORMAT_SPECS;
export type TableFormat = FormatOf<'rows'>;
export type PageFormat = FormatOf<'pages'>;
type FormatOf<Takes> = {
  [Format in ExportFormat]: (typeof EXPORT_FORMAT_SPECS)[Format]['takes'] extends Takes ? Format : never;
}[ExportFormat];

export const EXPORT_TYPES = Object.keys(EXPORT_TYPE_SPECS) as ExportType[];
export const EXPORT_FORMATS = Object.keys(EXPORT_FORMAT_SPECS) as ExportFormat[];

export const exportTypeSpec = (type: ExportType): ExportTypeSpec => EXPORT_TYPE_SPECS[type];
export const exportFormatSpec = (format: ExportFormat): ExportFormatSpec => EXPORT_FORMAT_SPECS[format];

/** Types that one job is enough for. */
export const JOB_EXPORT_TYPES = EXPORT_TYPES.filter(
  (type) => exportTypeSpec(type).isOfTwoJobs !== true,
) as Exclude<ExportType, 'diff'>[];

const formatsFrom = (takes: ExportFormatSpec['takes']) =>
  EXPORT_FORMATS.filter((format) => exportFormatSpec(format).takes === takes);

export const TABLE_FORMATS: readonly ExportFormat[] = formatsFrom('rows');
/** Formats that `excel` is for. */
export const EXCEL_FORMATS: readonly ExportFormat[] = EXPORT_FORMATS.filter(
  (format) => exportFormatSpec(format).takesByteOrderMark === true,
);
/** Formats of whole pages, and the type that they are made of. */
export const PAGE_FORMATS: readonly ExportFormat[] = formatsFrom('pages');
export const PAGE_TYPE: ExportType = 'raw';
