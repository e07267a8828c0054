import { InvalidArgumentError, Option } from 'commander';
import { formatProblem } from '../../core/model/export.ts';
import { EXPORT_FORMATS, JOB_EXPORT_TYPES } from '../../core/model/export-registry.ts';
import { list } from './flag-values.ts';
import { given } from './flags.ts';

/** The flags that say what a job leaves besides its pages. */
export interface DerivedFlags {
  readonly snapshots?: true;
  readonly search?: true;
  readonly lake?: true;
  /** The exports as `type:format`, as they were typed. */
  readonly export?: string[];
}

const EXPORT_WORDS = `types: ${JOB_EXPORT_TYPES.join(', ')}; formats: ${EXPORT_FORMATS.join(', ')}`;

export const derivedFlags = (): readonly Option[] => [
  new Option('--snapshots', 'keep each content of a page in the history of its URL'),
  new Option('--search', 'make the pages findable by scrapifie search'),
  new Option('--lake', 'write pages, links and records to the lake'),
  new Option(
    '--export <type:format>',
    `write a file when the job has ended, e.g. full:csv; repeatable; ${EXPORT_WORDS}`,
  ).argParser(exportList),
];

/** Which flag a field of the request comes from. */
export const DERIVED_FLAG_OF = {
  snapshots: '--snapshots',
  search: '--search',
  lake: '--lake',
  exports: '--export',
} as const;

/** The fields of a request that these flags stand for. */
export function derivedFieldsOf({
  snapshots,
  search,
  lake,
  export: exports,
}: DerivedFlags): Record<string, unknown> {
  return given({ snapshots, search, lake, exports: exports?.map(exportOf) });
}

/** Repeatable, and several at once with commas; a wrong one is refused as it was typed. */
function exportList(text: string, sofar: readonly string[] | undefined): string[] {
  const wanted = list(text, undefined);
  if (wanted.length === 0) throw new InvalidArgumentError(`It must be type:format; ${EXPORT_WORDS}.`);
  for (const each of wanted) {
    const problem = exportProblem(each);
    if (problem !== null) throw new InvalidArgumentError(`"${each}": ${problem}`);
  }
  return [...(sofar ?? []), ...wanted];
}

function exportProblem(text: string): string | null {
  const wish = exportOf(text);
  if (wish.type === 'diff')
    return 'A diff needs another job: run "scrapifie export JOB --type diff --against JOB" after the crawl.';
  const type = JOB_EXPORT_TYPES.find((known) => known === wish.type);
  if (type === undefined) return `The type must be one of ${JOB_EXPORT_TYPES.join(', ')}.`;
  const format = EXPORT_FORMATS.find((known) => known === wish.format);
  if (format === undefined) return `The format must be one of ${EXPORT_FORMATS.join(', ')}.`;
  return formatProblem({ type, format });
}

/** `full:csv`; a type alone is written as CSV. */
function exportOf(text: string): { type: string; format: string } {
  const [type = '', format = 'csv'] = text.split(':', 2);
  return { type, format };
}
