import { InvalidArgumentError, Option } from 'commander';
import { orderOf } from '../../capabilities/compare/moved-pages.ts';
import { DIFF_MODES, type DiffMode } from '../../capabilities/compare/page-comparer.ts';
import { CHANGE_TYPES, type ChangeType, noCounts } from '../../capabilities/compare/site-change.ts';
import type { ChangeView } from '../../capabilities/views/diff-view.ts';
import type { VersionDiffView } from '../../capabilities/views/snapshot-view.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type DiffRules, diffRulesSchema } from '../../extract/diff/diff-rules.ts';
import type { FieldChange } from '../../extract/diff/json-diff.ts';
import type { PictureSummary } from '../../extract/diff/picture-diff.ts';
import type { TextDiff } from '../../extract/diff/text-diff.ts';
import { describeShare } from '../../lib/human-units.ts';
import type { Backend } from '../backend/backend.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { given, parseFlags, withAccountFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { details } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface DiffFlags extends BackendFlags {
  readonly json?: true;
  readonly mode: DiffMode;
  readonly type?: ChangeType[];
  readonly watch?: string[];
  readonly field?: string[];
  readonly selector?: string[];
  readonly ignore?: string[];
  readonly ignoreSelector?: string[];
  readonly ignoreField?: string[];
  readonly minShare?: number;
  readonly minAmount?: number;
}

/** Which flag a field of the rules comes from. */
const FLAG_OF = {
  'watch.selectors': '--selector',
  'watch.fields': '--field',
  watch: '--watch',
  'ignore.patterns': '--ignore',
  'ignore.selectors': '--ignore-selector',
  'ignore.fields': '--ignore-field',
  'threshold.share': '--min-share',
  'threshold.amount': '--min-amount',
};

const EXAMPLES = `
Of two jobs, the earlier one comes first: ids from "scrapifie jobs list", or "latest". A URL is REMOVED only when the later
crawl would have found it; where it could not, because it was cancelled, hit a limit or failed, the URL is NOT_COVERED.

Of two snapshots ("scrapifie history URL" lists them), or of the last two contents of a URL, --mode says how they are shown.

Exit codes: 0 nothing changed · 10 something did.

Examples:
  scrapifie diff 0197… latest
  scrapifie diff 0197… latest --type ADDED --type REMOVED --json
  scrapifie diff 0197… latest --watch text --ignore '\\d+ visitors' --ignore-selector footer
  scrapifie diff 0197… latest --field price --min-share 0.05
  scrapifie diff https://example.com/ --mode line
  scrapifie diff snap_1f… snap_9c… --mode html > changes.html`;

const several = (value: string, before: string[] = []): string[] => [...before, value];
const number = (value: string): number => Number(value);
const WATCHED = ['text', 'markdown', 'screenshot'] as const;

function oneOf(value: string, known: readonly string[]): string {
  if (known.includes(value)) return value;
  throw new InvalidArgumentError(`Allowed choices are ${known.join(', ')}.`);
}

export const define: DefineCommand = (command, shell, endWith) => {
  withAccountFlags(
    command
      .argument('<earlier>', 'the earlier job or snapshot, or the URL of a page')
      .argument('[later]', 'the later job, "latest", or the later snapshot'),
  )
    .addOption(
      new Option(
        '--type <type>',
        'only URLs of this type; may be repeated (default: all but UNCHANGED)',
      ).argParser((value: string, before?: string[]) =>
        several(oneOf(value.toUpperCase(), CHANGE_TYPES), before),
      ),
    )
    .addOption(
      new Option('--mode <mode>', 'of two snapshots: how they are compared')
        .choices(DIFF_MODES)
        .default('rules'),
    )
    .addOption(
      new Option(
        '--watch <what>',
        'text, markdown or screenshot; may be repeated (default: text, and the fields title, price, currency, availability)',
      ).argParser((value: string, before?: string[]) => several(oneOf(value, WATCHED), before)),
    )
    .option('--field <name>', 'watch this field, or "all"; may be repeated', several)
    .option('--selector <selector>', 'watch what this CSS selector or XPath finds; may be repeated', several)
    .option(
      '--ignore <pattern>',
      'leave out matches of this regular expression (RE2); may be repeated',
      several,
    )
    .option(
      '--ignore-selector <selector>',
      'leave out these elements, by CSS or XPath; may be repeated',
      several,
    )
    .option('--ignore-field <name>', 'leave out this field; may be repeated', several)
    .option('--min-share <share>', 'least share that changes, 0 to 1', number)
    .option(
      '--min-amount <n>',
      'least amount that changes: characters, difference of numbers, pixels',
      number,
    )
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((a: string, b: string | undefined, flags: DiffFlags) => {
      const rules = parseFlags(diffRulesSchema, rulesOf(flags), FLAG_OF);
      return withBackend(shell, flags, async (backend) => {
        const snapshots = await snapshotsOf(backend, a, b);
        const hasChanged =
          snapshots === null
            ? await writeChanges(shell, backend.jobs.diff(a, b ?? 'latest', rules, flags.type), flags)
            : await writeVersions(shell, await backend.history.diff(...snapshots, flags.mode, rules), flags);
        if (hasChanged) endWith(EXIT.changed);
      });
    });
};

/** The two snapshots that are meant; null when jobs are. Throws NOT_FOUND for a URL that has not had two contents. */
async function snapshotsOf(
  { history }: Backend,
  a: string,
  b: string | undefined,
): Promise<readonly [string, string] | null> {
  if (a.startsWith('snap_') && b !== undefined) return [a, b];
  if (!/^https?:/i.test(a) || b !== undefined) return null;
  const [later, earlier] = await history.snapshots(a, 2);
  if (later !== undefined && earlier !== undefined) return [earlier.id, later.id];
  const known = later === undefined ? 'no content' : 'only one content';
  throw new ScrapifieError(
    'NOT_FOUND',
    `There is ${known} of this page to compare. Jobs with --snapshots keep them.`,
  );
}

async function writeVersions(shell: Shell, found: VersionDiffView, { json }: DiffFlags): Promise<boolean> {
  shell.stdout.write(json ? `${JSON.stringify(found)}\n` : describeVersionDiff(found));
  if (!found.isChanged) shell.stderr.write(NOTHING);
  return found.isChanged;
}

async function writeChanges(
  shell: Shell,
  changes: AsyncIterable<ChangeView>,
  { json }: DiffFlags,
): Promise<boolean> {
  const counts = noCounts();
  const rows = new SortedRows(shell.stdout);
  for await (const change of changes) {
    counts[change.type] += 1;
    if (json) shell.stdout.write(`${JSON.stringify(change)}\n`);
    else rows.add(change.url, lineOf([change.type, urlOf(change), whatOf(change)]));
  }
  rows.flush();
  shell.stderr.write(summaryOf(screenOf(shell, 'stderr'), counts));
  return hasChanged(counts);
}

const MOST_SORTED = 10_000;

/** Writes rows in the order of their URLs; of more than can be kept in memory, as they come. */
class SortedRows {
  readonly #out: Shell['stdout'];
  #kept: { readonly url: string; readonly line: string }[] = [];
  #count = 0;

  constructor(out: Shell['stdout']) {
    this.#out = out;
  }

  add(url: string, line: string): void {
    if (this.#count === 0) this.#out.write(lineOf(['TYPE', 'URL', 'WHAT']));
    this.#kept.push({ url, line });
    this.#count += 1;
    if (this.#count > MOST_SORTED) this.flush();
  }

  flush(): void {
    if (this.#count <= MOST_SORTED) this.#kept.sort((a, b) => orderOf(a.url, b.url));
    for (const { line } of this.#kept) this.#out.write(line);
    this.#kept = [];
  }
}

function rulesOf(flags: DiffFlags): unknown {
  const { watch, field, selector, ignore, ignoreSelector, ignoreField, minShare, minAmount } = flags;
  const isGiven = watch !== undefined || field !== undefined || selector !== undefined;
  const watched = {
    text: watch?.includes('text') ?? false,
    markdown: watch?.includes('markdown') ?? false,
    screenshot: watch?.includes('screenshot') ?? false,
    selectors: selector ?? [],
    fields: field?.includes('all') ? ('all' as const) : (field ?? []),
  } satisfies DiffRules['watch'];
  return {
    ...(isGiven ? { watch: watched } : {}),
    ignore: given({ patterns: ignore, selectors: ignoreSelector, fields: ignoreField }),
    threshold: given({ share: minShare, amount: minAmount }),
  };
}

const NOTHING = 'Nothing has changed.\n';
const TYPE_WIDTH = 11;

/** Rows of a large site are written as they come: the columns are as wide as most need. */
const lineOf = ([type = '', url = '', what = '']: readonly string[]): string =>
  `${`${type.padEnd(TYPE_WIDTH)}  ${url}  ${what}`.trimEnd()}\n`;

const urlOf = ({ url, previousUrl }: ChangeView): string =>
  previousUrl === null ? url : `${previousUrl} → ${url}`;

function whatOf({ changed, reason, comparison }: ChangeView): string {
  if (reason !== null) return `${reason.message} [${reason.crawl}:${reason.code}]`;
  const values = (comparison?.fields ?? []).map(
    ({ field, before, after }) => `${field}: ${shownValue(before)} → ${shownValue(after)}`,
  );
  const others = changed.filter((name) => !comparison?.fields.some(({ field }) => field === name));
  return [...values, ...others].join(', ');
}

function summaryOf(screen: Screen, counts: Readonly<Record<ChangeType, number>>): string {
  const rows = CHANGE_TYPES.filter((type) => counts[type] > 0).map((type) => [type, String(counts[type])]);
  return rows.length === 0 ? NOTHING : details(screen, rows);
}

const hasChanged = ({
  ADDED,
  REMOVED,
  MODIFIED,
  MOVED,
  REVERTED,
}: Readonly<Record<ChangeType, number>>): boolean => ADDED + REMOVED + MODIFIED + MOVED + REVERTED > 0;

/** How two contents of a page differ, for people. Empty when they do not. */
export function describeVersionDiff(found: VersionDiffView): string {
  if (!found.isChanged) return '';
  switch (found.mode) {
    case 'rules': {
      const { fields, texts, picture } = found.diff;
      return [
        ...fields.map(fieldLine),
        ...texts.map(({ name, diff }) => `${name}:\n${words(diff)}`),
        ...(picture === null ? [] : [pictureLine(picture)]),
      ].join('');
    }
    case 'text':
    case 'word':
      return words(found.diff);
    case 'line':
      return lines(found.diff);
    case 'fields':
      return found.diff.map(fieldLine).join('');
    case 'html':
      return `${found.diff.html}\n`;
    case 'json':
      return `${JSON.stringify(found.diff.patch, null, 2)}\n`;
    case 'visual':
      return found.diff === null ? '' : pictureLine(found.diff);
  }
}

/** As `wdiff` writes them: what went in `[-…-]`, what came in `{+…+}`. */
function words({ segments }: TextDiff): string {
  const marks = { same: ['', ''], removed: ['[-', '-]'], added: ['{+', '+}'], skipped: [' … ', ''] } as const;
  const text = segments.map((segment) => marks[segment.kind].join(segment.text)).join('');
  return text.endsWith('\n') ? text : `${text}\n`;
}

function lines({ segments }: TextDiff): string {
  const signs = { same: ' ', removed: '-', added: '+', skipped: '' };
  return segments
    .map(({ kind, text }) => {
      if (kind === 'skipped') return ' …\n';
      const each = text.replace(/\n$/, '').split('\n');
      return each.map((line) => `${signs[kind]}${line}\n`).join('');
    })
    .join('');
}

const fieldLine = ({ field, before, after }: FieldChange): string =>
  `${field}: ${shownValue(before)} → ${shownValue(after)}\n`;

const SHOWN_CHARS = 60;

/** A value of a field on one line. */
function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

function pictureLine({ share, boxes, problem }: PictureSummary): string {
  if (share === null) return `screenshot: other bytes, not compared (${problem ?? 'unknown'})\n`;
  const places = boxes.map(({ x, y, width, height }) => `${width}×${height} at ${x},${y}`);
  return `screenshot: ${describeShare(share)} of the pixels: ${places.join('; ')}\n`;
}
