import { readFileSync } from 'node:fs';
import {
  comparedTable,
  millionTable,
  pageTable,
  pricesTable,
  simulatedTable,
  sizesTable,
} from '../bench/capacity/tables.ts';
import type { CapacityData } from '../bench/capacity.ts';
import { PAGE_OPTION_NAMES, pageOption } from '../src/capabilities/jobs/request/page-options.ts';
import { documentedSettings } from '../src/core/config/setting-list.ts';
import { ERRORS, type ErrorSpec, EXIT } from '../src/core/errors/registry.ts';
import { AUDIT_ACTIONS } from '../src/core/model/audit-actions.ts';
import { EVENTS, eventsTo } from '../src/core/model/event-types.ts';
import {
  EXPORT_FORMATS,
  EXPORT_TYPES,
  exportFormatSpec,
  exportTypeSpec,
  PAGE_TYPE,
} from '../src/core/model/export-registry.ts';
import { QUERY_CATALOGUE, QUERY_SOURCES } from '../src/core/model/query-fields.ts';
import { fillWords } from '../src/core/model/reason-spec.ts';
import { REASON_NAMES, reasonSpec } from '../src/core/model/reasons.ts';
import { listMetrics } from './metric-list.ts';
import { optionRows, WITHOUT_FIELD } from './option-names.ts';

/** What each exit code tells a script. A code without a sentence does not compile. */
const EXIT_MEANINGS: Record<keyof typeof EXIT, string> = {
  ok: 'Everything that was asked for was done.',
  unexpected: 'A fault in Scrapifie itself; the log has it.',
  usage: 'The command line or the request is wrong; nothing was done.',
  partial: 'Done, but some pages failed; the report says which.',
  failed: 'What was asked for could not be fetched, or was turned away for now.',
  environment: 'This installation cannot work as it is: settings, data folder, disk, port.',
  changed: 'Done, and something has changed (`diff`).',
  interrupted: 'Stopped by Ctrl-C; the same command with `--resume` goes on.',
};

export function settingsTable(): string {
  const rows = documentedSettings().map(({ variable, defaultValue, description, isFromAnyFolder }) => [
    `\`${variable}\``,
    defaultValue === null ? 'not set' : defaultValue === '' ? 'empty' : `\`${defaultValue}\``,
    description,
    isFromAnyFolder ? 'yes' : '',
  ]);
  return table(['Variable', 'Default', 'What it does', 'Any folder'], rows);
}

export function errorsTable(): string {
  const rows = Object.entries<ErrorSpec>(ERRORS).map(([code, { httpStatus, retry, exitCode, meaning }]) => [
    `\`${code}\``,
    String(httpStatus),
    `\`${retry}\``,
    String(exitCode),
    meaning,
  ]);
  return table(['Code', 'Status', 'Retry', 'Exit code', 'Meaning'], rows);
}

export function exitCodesTable(): string {
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  return table(
    ['Exit code', 'Meaning'],
    names.map((name) => [String(EXIT[name]), EXIT_MEANINGS[name]]),
  );
}

/** Every option of the API with its flag, and the flags that the API has nothing for. */
export function optionsTable(): string {
  const flags = Object.entries(WITHOUT_FIELD).map(([flag, reason]) => [`\`${flag}\``, reason]);
  return [
    table(['API', 'Requests', 'Flag', 'Default', 'Values'], optionRows()),
    'Flags without a field in the API:\n',
    table(['Flag', 'Why'], flags),
  ].join('\n');
}

/** Every option of a page, and what it is. */
export function pageOptionsTable(): string {
  const rows = PAGE_OPTION_NAMES.map((name) => {
    const { schema, requests } = pageOption(name);
    return [`\`${name}\``, requests?.join(', ') ?? 'all', schema.description ?? ''];
  });
  return table(['Field', 'Requests', 'What it is'], rows);
}

/** Every field that a typed query may name. */
export function queryFieldsTable(): string {
  const rows = QUERY_SOURCES.flatMap((source) =>
    [...QUERY_CATALOGUE[source].values()].map(({ name, type, column, meaning }) => [
      source,
      `\`${name}\``,
      type,
      column === null ? 'record' : '',
      meaning,
    ]),
  );
  return table(['Source', 'Field', 'Type', '', 'Meaning'], rows);
}

/** What happened, and who is told of it. */
export function eventsTable(): string {
  const rows = Object.entries<{ readonly to: readonly string[]; readonly when: string }>(EVENTS).map(
    ([type, { to, when }]) => [
      `\`${type}\``,
      to.includes('webhook') ? 'yes' : '',
      to.includes('stream') ? 'yes' : '',
      when,
    ],
  );
  return table(['Type', 'Webhooks', 'Live', 'When'], rows);
}

/** The events that a webhook may choose. */
export function webhookEventsTable(): string {
  const rows = eventsTo('webhook').map((type) => [`\`${type}\``, EVENTS[type].when]);
  return table(['Type', 'When'], rows);
}

/** What exports have, and how they are written. */
export function exportTypesTable(): string {
  const rows = EXPORT_TYPES.map((type) => [`\`${type}\``, exportTypeSpec(type).docs]);
  return table(['`type`', 'what it has'], rows);
}

export function exportFormatsTable(): string {
  const rows = EXPORT_FORMATS.map((format) => {
    const { takes, docs } = exportFormatSpec(format);
    return [`\`${format}\``, takes === 'rows' ? 'tables' : `\`${PAGE_TYPE}\``, docs];
  });
  return table(['`format`', 'of', 'what it is'], rows);
}

export function auditActionsTable(): string {
  const rows = Object.entries(AUDIT_ACTIONS).map(([action, when]) => [`\`${action}\``, when]);
  return table(['Action', 'When'], rows);
}

/** Every reason of the ledger, of jobs that ended early, of attempts and of hosts. */
export function reasonsTable(): string {
  const rows = REASON_NAMES.flatMap((name) => {
    const { parameter, separator = ':', words, bareWords, advice = '', stopWords } = reasonSpec(name);
    const row = (reason: string, meaning: string) => [
      `\`${reason}\``,
      wordsOnPage(meaning),
      stopWords === undefined ? '' : 'yes',
      advice,
    ];
    return [
      ...(bareWords === undefined ? [] : [row(name, bareWords)]),
      row(parameter === undefined ? name : `${name}${separator}…`, words),
    ];
  });
  return table(['Reason', 'Meaning', 'Ends a job', 'What to do'], rows);
}

/** The words on a page that speaks of no job: what they would be filled with is `…`. */
const wordsOnPage = (words: string): string =>
  fillWords(words.replace(/^\{host\}/, 'The host'), { ofLimit: () => '', host: () => 'the host' }).replaceAll(
    /\{\w+\}/g,
    '…',
  );

/** Every metric of `/metrics` that is the program's own. */
export function metricsTable(): string {
  const rows = listMetrics().map(({ name, type, labels, of, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    of,
    help,
  ]);
  return table(['Metric', 'Type', 'Labels', 'Of', 'Meaning'], rows);
}

/** The page with the part between `<!-- name -->` and `<!-- /name -->` replaced. */
/** What the bench measured last about the cost of pages and commits. */
export function capacityData(): CapacityData {
  const file = new URL('../bench/results/capacity.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { result: { data: CapacityData } }).result.data;
}

/** The sections of docs/scaling.md that follow from it. */
export function capacitySections(): Readonly<Record<string, string>> {
  const { crawls, compared, simulated } = capacityData();
  const tables = {
    'capacity-page': pageTable(crawls),
    'capacity-sizes': sizesTable(crawls),
    'capacity-prices': pricesTable(),
    'capacity-million': millionTable(crawls),
    'capacity-compared': comparedTable(compared),
    'capacity-simulated': simulatedTable(simulated),
  };
  return Object.fromEntries(
    Object.entries(tables).map(([name, { columns, rows }]) => [name, table(columns, rows)]),
  );
}

export function withSection(page: string, name: string, content: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const start = page.indexOf(open);
  const end = page.indexOf(close);
  if (start === -1 || end < start) throw new Error(`the page has no section ${open} … ${close}`);
  return `${page.slice(0, start + open.length)}\n\n${content}\n${page.slice(end)}`;
}

/** In columns, as the formatter wants it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[], filler: string): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width, filler)).join(' | ')} |`;
  const [top = [], ...others] = cells;
  return `${[line(top, ' '), line([], '-'), ...others.map((row) => line(row, ' '))].join('\n')}\n`;
}
