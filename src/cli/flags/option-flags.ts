import { Option } from 'commander';
import {
  PAGE_OPTION_NAMES,
  type PAGE_OPTIONS,
  type PageOptionName,
  pageOption,
  storedPlace,
} from '../../capabilities/jobs/request/page-options.ts';
import type { FlagReader, OptionFlag } from '../../core/model/page-option.ts';
import {
  byteCount,
  choiceOrPart,
  collect,
  cookie,
  duration,
  header,
  list,
  place,
  size,
  wholeNumber,
} from './flag-values.ts';

/** The flags of the options of a page, made from their registry. */

type Flags = {
  [Name in PageOptionName]: (typeof PAGE_OPTIONS)[Name] extends { readonly flags: infer Own } ? Own : never;
}[PageOptionName];
type KeyOf<Union> = Union extends unknown ? keyof Union : never;
/** The name under which commands get the value of a flag. */
type OptionFlagName = KeyOf<Flags>;
type FlagOf<Name> = Flags extends infer Union
  ? Union extends Readonly<Record<Name & string, infer Flag>>
    ? Flag
    : never
  : never;

interface ReadValues {
  readonly list: string[];
  readonly each: string[];
  readonly 'whole-number': number;
  readonly bytes: number;
  readonly duration: number;
  readonly size: { readonly width: number; readonly height: number };
  readonly place: { readonly latitude: number; readonly longitude: number };
  readonly header: Record<string, string>;
  readonly cookie: Record<string, string>;
  readonly 'choice-or-plugin': string;
}
type ValueOf<Flag> = Flag extends { readonly reads: infer Reader extends FlagReader }
  ? ReadValues[Reader]
  : Flag extends { readonly flag: `${string}<${string}` }
    ? string
    : boolean;

/** The values of the flags, as commands get them. */
export type OptionFlags = { readonly [Name in OptionFlagName]?: ValueOf<FlagOf<Name>> };

const READERS: Readonly<
  Record<Exclude<FlagReader, 'choice-or-plugin'>, (text: string, sofar: never) => unknown>
> = {
  list,
  each: collect,
  'whole-number': wholeNumber,
  bytes: byteCount,
  duration,
  size,
  place,
  header,
  cookie,
};

/** The options about archives; see docs/archives.md. */
export const ARCHIVE_FLAGS = {
  replay: () =>
    new Option(
      '--replay <path>',
      'answer from a WARC or WACZ file, or a folder of them, in place of the web',
    ),
  warc: () =>
    new Option(
      '--warc <path>',
      'record everything that is received: a file that ends in .warc.gz, or a folder',
    ),
  warcSize: () =>
    new Option('--warc-size <bytes>', 'begin another file at this size (default: 1000000000)').argParser(
      wholeNumber,
    ),
} as const;

function commandOption({ flag, says, reads, choices }: OptionFlag): Option {
  const option = new Option(flag, says);
  if (choices !== undefined) option.choices(choices);
  if (reads === 'choice-or-plugin') option.argParser(choiceOrPart(choices ?? []));
  else if (reads !== undefined) option.argParser(READERS[reads] as (text: string, sofar: unknown) => unknown);
  return option;
}

interface FlagEntry {
  readonly option: PageOptionName;
  readonly name: OptionFlagName;
  readonly flag: OptionFlag;
}

const ENTRIES: readonly FlagEntry[] = PAGE_OPTION_NAMES.flatMap((option) =>
  Object.entries(pageOption(option).flags ?? {}).map(([name, flag]) => ({
    option,
    name: name as OptionFlagName,
    flag,
  })),
);

export const OPTION_FLAGS = Object.fromEntries(
  ENTRIES.map(({ name, flag }) => [name, () => commandOption(flag)]),
) as Readonly<Record<OptionFlagName, () => Option>>;

/** The commands that have a flag: see `PageOption.flagsOf`. */
type Commands = 'page' | 'picture' | 'part';

const entriesOf = (commands: Commands): readonly FlagEntry[] =>
  ENTRIES.filter(({ option }) => (pageOption(option).flagsOf ?? 'page') === commands);

/** Where help shows the flags of all others. */
const OTHERS = '*';
/** The order of the help, where it is not that of the registry. */
const HELP_ORDER: readonly (OptionFlagName | typeof OTHERS)[] = [
  'engine',
  'waitFor',
  'waitMs',
  'waitUntil',
  'scroll',
  'noScroll',
  'viewport',
  'mobile',
  'geolocation',
  'locale',
  'timezone',
  'proxy',
  'proxyTier',
  'maxProxyTier',
  'country',
  'identity',
  'header',
  'crossOriginHeader',
  'cookie',
  'session',
  'maxAttempts',
  'maxBodyBytes',
  OTHERS,
  'scrollSteps',
  'scrollPause',
  'taskTimeout',
  'identityBrowser',
];

function flagNames(commands: Commands): readonly OptionFlagName[] {
  const place = ({ name }: FlagEntry) => {
    const at = HELP_ORDER.indexOf(name);
    return at === -1 ? HELP_ORDER.indexOf(OTHERS) : at;
  };
  return entriesOf(commands)
    .toSorted((a, b) => place(a) - place(b))
    .map(({ name }) => name);
}

/** The flags for requests and page actions; the same for every command that fetches. */
export const PAGE_FLAGS = flagNames('page');
/** The flags for pictures, for commands that keep them. */
export const PICTURE_FLAGS = flagNames('picture');
/** The flags that say which part of a page its content is. */
export const PART_FLAGS = flagNames('part');

/** `--only-main-content` of `--no-only-main-content`, and so on: as it is typed, without its value. */
const longOf = ({ flag }: OptionFlag): string => flag.split(' ', 1)[0] ?? flag;

/** Which flag a field of the request comes from; the first that fits counts. */
function flagsByField(commands: Commands): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const entries = entriesOf(commands);
  for (const { option, flag } of entries) {
    for (const part of [flag.sets ?? [], flag.gives ?? []].flat())
      found[`${option}.${part}`] ??= longOf(flag);
  }
  // Whole options come behind their parts.
  for (const { option, flag } of entries) found[option] ??= longOf(flag);
  return found;
}

const ownFlags = Object.fromEntries(
  PAGE_OPTION_NAMES.flatMap((name) => {
    const { ownFlag } = pageOption(name);
    return ownFlag === undefined ? [] : [[name, ownFlag]];
  }),
);

export const PAGE_FLAG_OF: Readonly<Record<string, string>> = { ...flagsByField('page'), ...ownFlags };
export const PICTURE_FLAG_OF = flagsByField('picture');
export const PART_FLAG_OF = flagsByField('part');

/** The fields of a request that the flags stand for. */
function fieldsFrom(commands: Commands, flags: OptionFlags): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const { option, name, flag } of entriesOf(commands)) {
    const value = flags[name];
    // Without its flag, the parser of commands takes `--no-…` for true.
    if (value === undefined || (value === true && flag.flag.startsWith('--no-'))) continue;
    if (flag.sets === undefined) fields[option] ??= value;
    else fields[option] = { ...partsOf(fields[option]), [flag.sets]: value };
  }
  return fields;
}

/** A part says more than a switch for the whole. */
const partsOf = (field: unknown): object => (typeof field === 'object' && field !== null ? field : {});

export function pageFieldsOf(flags: OptionFlags): Record<string, unknown> {
  const fields = fieldsFrom('page', flags);
  return 'proxy' in fields ? { ...fields, proxy: withOneUrl(partsOf(fields.proxy)) } : fields;
}

/** One proxy of the caller's is `url`, several are `urls`. */
function withOneUrl({ urls, ...rest }: { readonly urls?: readonly string[] }): object {
  return urls?.length === 1
    ? { url: urls[0], ...rest }
    : { ...(urls === undefined ? {} : { urls }), ...rest };
}

/** The field `screenshot` of a request; undefined when no flag asks for a picture. */
export const pictureFieldOf = (flags: OptionFlags): object | undefined =>
  fieldsFrom('picture', flags).screenshot as object | undefined;

export const partFieldsOf = (flags: OptionFlags): Record<string, unknown> => fieldsFrom('part', flags);

/** What a job was asked for by a flag. */
interface StoredFlag {
  readonly flag: string;
  /** Places in `PageOptions`; the first that has a value counts. */
  readonly places: readonly string[];
  readonly unstored: unknown;
  readonly isHidden: boolean;
}

export const STORED_FLAGS: readonly StoredFlag[] = ENTRIES.map(({ option, flag }) => {
  const place = [storedPlace(option), flag.sets ?? []].flat().join('.');
  const { stored = [place], unstored, isHidden = false } = flag;
  return { flag: longOf(flag), places: stored, unstored, isHidden };
});
