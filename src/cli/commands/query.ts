import { InvalidArgumentError, Option } from 'commander';
import type { QueryResult } from '../../capabilities/query/queries.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { QUERY_SOURCES } from '../../core/model/query-fields.ts';
import { defined } from '../../lib/defined.ts';
import type { BackendQuery } from '../backend/backend.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { list, wholeNumber } from '../flags/flag-values.ts';
import { given, withAccountFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf, writePageText } from '../output/screen.ts';
import { harmlessText, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface QueryFlags extends BackendFlags {
  readonly from?: string;
  readonly sql?: string;
  readonly timeout?: number;
  readonly select?: readonly string[];
  readonly where?: readonly object[];
  readonly group?: readonly string[];
  readonly order?: readonly string[];
  readonly limit?: number;
  readonly json?: true;
  readonly csv?: true;
}

type Answer = Omit<QueryResult, 'columns'> & { readonly columns: readonly { readonly name: string }[] };

const EXAMPLES = `
--where is given once for each condition; all of them must hold. Signs: = != < <= > >= ~ (contains) ~= (contains, either
case) ^= (starts with) $= (ends with); FIELD is null, FIELD is not null; a list with commas is one of them. A condition in
JSON is taken as it is. docs/query.md lists the fields.

Examples:
  scrapifie query --from pages --where 'statusCode>=400' --select url,statusCode,errorCode
  scrapifie query --from pages --group host --select count,sum:bytes=total --order=-total
  scrapifie query --from pages --group fetchedAt:day --csv
  scrapifie query --from links --where isInternal=false --group host --order=-count --limit 20
  scrapifie query --from records --where 'data.price<20' --select url,data.price
  scrapifie query --sql 'SELECT host, count(*) FROM pages GROUP BY host'   (over the lake: crawl --lake)`;

export const define: DefineCommand = (command, shell) => {
  withAccountFlags(command)
    .addOption(new Option('--from <what>', `what to ask about: ${QUERY_SOURCES.join(', ')}`))
    .addOption(
      new Option('--select <columns>', 'columns, such as url,bytes or count,sum:bytes').argParser(list),
    )
    .addOption(
      new Option('--where <condition>', 'such as statusCode>=400; repeatable').argParser(
        (text: string, before: readonly object[] = []) => [...before, conditionOf(text)],
      ),
    )
    .addOption(
      new Option('--group <fields>', 'one row for each value, such as host or fetchedAt:day').argParser(list),
    )
    .addOption(
      new Option('--order <columns>', 'such as url or -bytes (write --order=-bytes)').argParser(list),
    )
    .addOption(
      new Option('--limit <n>', 'rows at most; more than 1000 are read in steps').argParser(wholeNumber),
    )
    .addOption(
      new Option('--sql <select>', 'a SELECT over the lake in place of all this').conflicts([
        ...['from', 'select', 'where', 'group', 'order'],
      ]),
    )
    .addOption(
      new Option('--timeout <ms>', 'with --sql: the query is stopped after this time').argParser(wholeNumber),
    )
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((flags: QueryFlags) =>
      withBackend(shell, flags, async ({ query }) => {
        const { sql, limit, timeout: timeoutMs } = flags;
        const result =
          sql === undefined
            ? await rowsOf(query, requestOf(flags), limit)
            : await query.run(given({ sql, limit, timeoutMs }));
        const text = written(screenOf(shell), result, flags);
        // Tables have harmless cells, and colours of their own.
        if (flags.json || flags.csv) writePageText(shell.stdout, text);
        else shell.stdout.write(text);
      }),
    );
};

function requestOf({ from, select, where, group, order }: QueryFlags): Readonly<Record<string, unknown>> {
  if (from === undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `Say what to ask about: --from ${QUERY_SOURCES.join('|')}, or --sql.`,
    );
  }
  return given({
    from,
    select: select?.map(columnOf),
    where: where === undefined || where.length === 1 ? where?.[0] : { and: where },
    group: group?.map(groupOf),
    order,
  });
}

const MOST_AT_ONCE = 1_000;

/** Follows the cursor until there are as many rows as wanted. */
async function rowsOf(
  query: BackendQuery,
  request: Readonly<Record<string, unknown>>,
  wanted: number | undefined,
): Promise<Answer> {
  const isGrouped = request.group !== undefined;
  if (wanted === undefined || wanted <= MOST_AT_ONCE || isGrouped) {
    return query.run(given({ ...request, limit: wanted }));
  }
  const first = await query.run({ ...request, limit: MOST_AT_ONCE });
  const items: Record<string, unknown>[] = [...first.items];
  let cursor: string | null = first.nextCursor;
  while (cursor !== null && items.length < wanted) {
    const limit = Math.min(MOST_AT_ONCE, wanted - items.length);
    const next = await query.run({ ...request, limit, cursor });
    items.push(...next.items);
    cursor = next.nextCursor;
  }
  return { ...first, items, nextCursor: cursor };
}

function written(
  screen: Screen,
  { columns, items, isTruncated, nextCursor }: Answer,
  { json, csv }: QueryFlags,
): string {
  const names = columns.map(({ name }) => name);
  if (json) return items.map((item) => `${JSON.stringify(item)}\n`).join('');
  if (csv)
    return [names, ...items.map((item) => names.map((name) => plain(item[name])))].map(csvLine).join('');
  if (items.length === 0) return 'No rows.\n';
  const rows = items.map((item) => names.map((name) => cellOf(item[name])));
  const more = isTruncated || nextCursor !== null ? 'There are more rows: raise --limit.\n' : '';
  return table(screen, [names, ...rows]) + more;
}

/** What a spreadsheet would take for a formula gets an apostrophe in front. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180: quotes where they are needed, lines end in CRLF. */
function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  const texts = cells.map((cell) => {
    const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${texts.join(',')}\r\n`;
}

const plain = (value: unknown): string | number | boolean | null =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(value)
    : (value as string | number | boolean | null);

const MOST_CELL_CHARS = 100;

function cellOf(value: unknown): string {
  const text = harmlessText(String(plain(value) ?? ''));
  return text.length > MOST_CELL_CHARS ? `${text.slice(0, MOST_CELL_CHARS - 1)}…` : text;
}

/** Signs of the command line and the operators of a query that they stand for; longer ones are tried first. */
const SIGNS: readonly (readonly [sign: string, op: string])[] = [
  ['!=', 'ne'],
  ['<=', 'lte'],
  ['>=', 'gte'],
  ['^=', 'startsWith'],
  ['$=', 'endsWith'],
  ['~=', 'icontains'],
  ['=', 'eq'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['~', 'contains'],
];

const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * One condition: `statusCode>=400`, `title~price`, `host=a.test,b.test` (one of them), `errorCode is null`,
 * `title is not null`. A value in double quotes is text as it stands. A whole condition in JSON is taken as it is.
 */
export function conditionOf(text: string): object {
  if (text.trimStart().startsWith('{')) return jsonCondition(text);
  const isNull = /^\s*(\S+)\s+is\s+(not\s+)?null\s*$/i.exec(text);
  if (isNull !== null) return { field: isNull[1], op: isNull[2] === undefined ? 'isNull' : 'isNotNull' };
  const name = /^\s*([\w.$@-]+?)\s*(?=[!<>^$~=])/.exec(text);
  const rest = name === null ? '' : text.slice(name[0].length);
  const found = SIGNS.find(([sign]) => rest.startsWith(sign));
  if (name === null || found === undefined) {
    const signs = SIGNS.map(([sign]) => sign).join(' ');
    throw new InvalidArgumentError(
      `A condition is FIELD SIGN VALUE, such as statusCode>=400. Signs: ${signs}`,
    );
  }
  const [sign, op] = found;
  const given = rest.slice(sign.length).trim();
  if (given.startsWith('"')) return { field: name[1], op, value: quotedText(given) };
  const list = given.split(',');
  if (list.length > 1 && (op === 'eq' || op === 'ne')) {
    return {
      field: name[1],
      op: op === 'eq' ? 'in' : 'notIn',
      value: list.map((each) => literalOf(each.trim())),
    };
  }
  return { field: name[1], op, value: literalOf(given) };
}

function literalOf(text: string): string | number | boolean {
  if (NUMBER.test(text)) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

function quotedText(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    throw new InvalidArgumentError('A value in double quotes is written as in JSON.');
  }
}

function jsonCondition(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw new InvalidArgumentError(`Not JSON: ${(error as Error).message}`);
  }
}

/** Reads a field to group by, such as `host` or `fetchedAt:day`. */
export function groupOf(text: string): string | object {
  const [field = '', by] = text.split(':', 2);
  return by === undefined ? field : { field, by };
}

/** `url`, `count`, `sum:bytes`, `sum:bytes=total` */
export function columnOf(text: string): string | object {
  const [what = '', as] = text.split('=', 2);
  const [fn = '', field] = what.split(':', 2);
  const named = as === undefined ? {} : { as };
  if (field === undefined && fn !== 'count') return as === undefined ? fn : { field: fn, as };
  return { fn, ...defined({ field }), ...named };
}
