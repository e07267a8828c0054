import { z } from 'zod';
import {
  crawlRequestSchema,
  mapRequestSchema,
  scrapeRequestSchema,
} from '../src/capabilities/jobs/request/job-request.ts';
import { MAP_FLAG_OF } from '../src/cli/commands/map.ts';
import { SCRAPE_FLAG_OF } from '../src/cli/commands/scrape.ts';
import { CRAWL_FLAG_OF } from '../src/cli/crawl/crawl-request.ts';

/** The commands that stand for a request of the API, each with its schema and the flags of its fields. */
export const COMMANDS: Readonly<
  Record<string, { readonly schema: z.ZodType; readonly flagOf: Readonly<Record<string, string>> }>
> = {
  scrape: { schema: scrapeRequestSchema, flagOf: SCRAPE_FLAG_OF },
  crawl: { schema: crawlRequestSchema, flagOf: CRAWL_FLAG_OF },
  map: { schema: mapRequestSchema, flagOf: MAP_FLAG_OF },
};

const NOTHING_LEFT = '`scrape` leaves nothing behind';
const KEPT_FOLDER = 'a folder is kept until it is deleted';

/** Fields of requests that have no flag, and why. */
export const WITHOUT_FLAG: Readonly<Record<string, string>> = {
  async: 'a command waits',
  'geolocation.accuracy': '`--geolocation` has the default',
  'retention.bodies': KEPT_FOLDER,
  'retention.artifacts': KEPT_FOLDER,
  'retention.records': KEPT_FOLDER,
  'retention.ledger': KEPT_FOLDER,
  'retention.jobs': KEPT_FOLDER,
  'retention.exports': KEPT_FOLDER,
  'webhook.url': 'a command waits; see `scrapifie webhooks`',
  'webhook.events': 'a command waits',
  'webhook.secret': 'a command waits',
  'webhook.headers': 'a command waits',
  snapshots: NOTHING_LEFT,
  search: NOTHING_LEFT,
  lake: NOTHING_LEFT,
  exports: NOTHING_LEFT,
  inline: '`scrape` always has the bytes, `crawl` writes files',
};

/** Flags that stand for no field of a request, and why. */
export const WITHOUT_FIELD: Readonly<Record<string, string>> = {
  '--json': 'the form of the output',
  '--quiet': 'the form of the output',
  '--verbose': 'the form of the output; the API has `trace` and `GET /v1/jobs/:id/why`',
  '--no-scroll': 'the same as `scroll: false`',
  '--out': 'the folder of a crawl',
  '--resume': 'the API has `POST /v1/jobs/:id/resume`',
  '--data-dir': 'where sessions and stored pages are',
  '--api': 'the server that does the work',
  '--api-key': 'the key of that server',
  '--titles': 'the form of the output',
  '--rate': 'only the operator may set it; the API has policies',
  '--allow-private': 'only the operator may set it; the API has `SCRAPIFIE_ALLOW_PRIVATE`',
  '--replay': 'only the operator may set it; the API has `SCRAPIFIE_REPLAY`',
  '--warc': 'files to write; the API has exports',
  '--warc-size': 'files to write; the API has exports',
  '--pdf': 'a file to write; the same as `--format pdf`',
  '--xhr': 'the same as `--format xhr`',
  '--screenshot': 'a file to write; the same as `--format screenshot`',
  '--subdomains': 'the former name of `--allow-subdomains`',
  '--external': 'the former name of `--allow-external`',
};

/** One field of a request. */
export interface OptionField {
  /** The path in the request of a scrape; other requests have the fields of a page under `options`. */
  readonly name: string;
  /** The path in the request. */
  readonly path: string;
  /** As JSON; null when there is none, or it is itself made of fields. */
  readonly defaultValue: string | null;
  readonly values: string;
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

/** The fields of a request in the order of its schema, objects taken apart. */
export function fieldsOf(schema: z.ZodType): readonly OptionField[] {
  const { $defs: named = {}, ...shown } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return within(inPlace(shown, named as Readonly<Record<string, object>>) as JsonSchema, '');
}

/** The schema with each named part in the place where it is referred to. */
function inPlace(part: unknown, named: Readonly<Record<string, object>>): unknown {
  if (Array.isArray(part)) return part.map((each) => inPlace(each, named));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...own } = part as { readonly $ref?: string };
  const whole = $ref === undefined ? own : { ...named[$ref.split('/').at(-1) ?? ''], ...own };
  return Object.fromEntries(Object.entries(whole).map(([key, value]) => [key, inPlace(value, named)]));
}

function within({ properties = {} }: JsonSchema, above: string): OptionField[] {
  return Object.entries(properties).flatMap(([key, field]) => {
    const path = above === '' ? key : `${above}.${key}`;
    const forms = field.anyOf ?? [field];
    const objects = forms.filter((form) => form.properties !== undefined);
    const others = forms.filter((form) => form.properties === undefined && form.type !== 'null');
    const parts = objects.flatMap((form) => within(form, path));
    if (others.length === 0) return parts;
    const name = path.replace(/^options\./, '');
    const values =
      others.map(valuesOf).join(' or ') + (forms.some(({ type }) => type === 'null') ? ' or null' : '');
    const defaultValue = field.default === undefined ? null : JSON.stringify(field.default);
    return [{ name, path, defaultValue, values }, ...parts];
  });
}

function valuesOf(form: JsonSchema): string {
  if (form.const !== undefined) return JSON.stringify(form.const);
  if (form.enum !== undefined) return form.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (form.type === 'array') {
    const most = form.maxItems === undefined ? '' : `, at most ${count(form.maxItems)}`;
    const each = form.items?.enum === undefined ? '' : ` of ${valuesOf(form.items)}`;
    return `list${each}${most}`;
  }
  if (form.type === 'object') return 'object';
  if (form.type === 'integer' || form.type === 'number') {
    const most =
      form.maximum === undefined || form.maximum > Number.MAX_SAFE_INTEGER / 2 ? null : form.maximum;
    const least =
      form.minimum === undefined || form.minimum < -Number.MAX_SAFE_INTEGER / 2 ? null : form.minimum;
    if (most === null) return least === null ? 'number' : `${count(least)} or more`;
    return `${count(least ?? 0)} to ${count(most)}`;
  }
  return typeof form.type === 'string' ? form.type : 'any';
}

const count = (number: number): string => number.toLocaleString('en-US');

/** The flag of a field in a command; null when it has none. */
export function flagFor(flagOf: Readonly<Record<string, string>>, path: string): string | null {
  return flagOf[path] ?? null;
}

/** Rows of the table of names: field, requests, flag, default and values. */
export function optionRows(): readonly (readonly string[])[] {
  const rows = new Map<
    string,
    { field: OptionField; commands: Map<string, string>; defaults: Map<string, string> }
  >();
  for (const [command, { schema, flagOf }] of Object.entries(COMMANDS)) {
    for (const field of fieldsOf(schema)) {
      const isOfPage = command === 'scrape' || field.path.startsWith('options.');
      // The time of a map is not that of one page, and its words are no index.
      const kind = command === 'map' && field.name === 'search' ? 'map' : 'job';
      const key = `${isOfPage ? 'page' : kind} ${field.name}`;
      const row = rows.get(key) ?? { field, commands: new Map(), defaults: new Map() };
      row.commands.set(command, flagFor(flagOf, field.path) ?? WITHOUT_FLAG[field.name] ?? '');
      row.defaults.set(command, field.defaultValue ?? '');
      rows.set(key, row);
    }
  }
  return [...rows.values()].map(({ field, commands, defaults }) => [
    `\`${field.name}\``,
    [...commands.keys()].join(', '),
    byCommand(commands, (flag) => (/^(?:--|URL)/.test(flag) ? `\`${flag}\`` : `none: ${flag}`)),
    byCommand(defaults, (value) => (value === '' ? '' : `\`${value}\``)),
    field.values,
  ]);
}

/** One value where all commands agree, else each with its commands. */
function byCommand(values: ReadonlyMap<string, string>, shown: (value: string) => string): string {
  const commandsOf = new Map<string, string[]>();
  for (const [command, value] of values) commandsOf.set(value, [...(commandsOf.get(value) ?? []), command]);
  const [only] = commandsOf.keys();
  if (commandsOf.size === 1) return shown(only ?? '');
  return [...commandsOf].map(([value, commands]) => `${shown(value)} (${commands.join(', ')})`).join(', ');
}
