import { z } from 'zod';
import type { JobKind } from './job-kinds.ts';

/** How the text behind a flag is read; without it, a text is the value. `each`: repeatable; `list`: commas, too. */
export type FlagReader =
  | 'list'
  | 'each'
  | 'whole-number'
  | 'bytes'
  | 'duration'
  | 'size'
  | 'place'
  | 'header'
  | 'cookie'
  | 'choice-or-plugin';

/** A flag of the command line that stands for an option, or for a part of it. */
export interface OptionFlag {
  /** The flag as it is typed, such as `--block-resources <kind>`. */
  readonly flag: string;
  /** What the help of a command says about the flag. */
  readonly says: string;
  readonly reads?: FlagReader;
  readonly choices?: readonly string[];
  /** The part of the option that it sets, such as `selector` of `wait`; without it, the option itself. */
  readonly sets?: string;
  /** Parts of the option that a flag for the whole option gives. */
  readonly gives?: readonly string[];
  /** Where jobs keep the value, when it is not the place of the option; the first of several that is there counts. */
  readonly stored?: readonly string[];
  /** What jobs that keep nothing there were asked for. */
  readonly unstored?: unknown;
  /** The value may hold a log-in: it is not shown. */
  readonly isHidden?: true;
}

/**
 * How the dashboard asks for an option, or for a part of it: `lines` is a list with one entry per line, `pairs` an object with
 * `Name: value` per line, `checks` a list of choices, `on` and `off` a switch whose usual position is off or on.
 */
export interface OptionForm {
  readonly group: 'get' | 'fetch' | 'extract' | 'limits';
  /** Shown at once, and not only under "more". */
  readonly isMain?: true;
  readonly part?: string;
  readonly label: string;
  readonly kind:
    | 'text'
    | 'long'
    | 'number'
    | 'choice'
    | 'checks'
    | 'lines'
    | 'pairs'
    | 'json'
    | 'actions'
    | 'on'
    | 'off';
  readonly hint?: string;
  readonly placeholder?: string;
  /** Value, label and hint of each. */
  readonly choices?: readonly (readonly [value: string, label: string, hint?: string])[];
  /** Stands beside the field before it. */
  readonly isHalf?: true;
}

/** All there is to say about an option of a page. */
export interface PageOption {
  /** Schema of the value in a request. Its description is what people read about the option. */
  readonly schema: z.ZodType;
  /** The requests that take the option; missing means every request that fetches pages. */
  readonly requests?: readonly JobKind[];
  /** Flags of the command line, by the names under which commands get their values. */
  readonly flags?: Readonly<Record<string, OptionFlag>>;
  /** The commands that have the flags. `page`: all that fetch; `picture` and `part`: those that keep pages. */
  readonly flagsOf?: 'page' | 'picture' | 'part';
  /** The flag of commands that declare it themselves. */
  readonly ownFlag?: string;
  /** Fields of the dashboard; with none, the option can be given in the field for other fields only. */
  readonly form: readonly OptionForm[];
  /** Where jobs keep the value, such as `render.device.viewport`; missing means under the name of the option. */
  readonly stored?: string;
}

/**
 * An option that is kept as it was given, under its own name, and left out where it was not given. Its entry is all that the
 * program needs to validate it, to keep it with the job and to bring it to the code that uses it.
 */
export interface PlainOption extends PageOption {
  /** Turns the value that was given into the one that is kept; missing means that both are the same. */
  readonly keeps?: (value: never) => unknown;
}

/** A plain option of how a page is fetched. */
export interface PlainPageOption extends PlainOption {
  /**
   * What is fetched may depend on the option: a page that was stored for a request with another value does not answer this one.
   * False for limits, and for what only matters to requests that no stored page answers.
   */
  readonly isOfFetch: boolean;
}

/** An option of what a browser does, which no other engine can honour. */
export interface PlainRenderOption extends PlainOption {
  /** What an engine that is the service of another program cannot do: `FlareSolverr cannot …`. */
  readonly cannot: string;
  /**
   * Whether a page has to be shown by a browser for the option to be honoured. False for an option that only says how a browser
   * works where one is used anyway.
   */
  readonly needsBrowser: boolean;
}

type Options = Readonly<Record<string, PlainOption>>;

/** What is kept of plain options. */
export type KeptOptions<O extends Options> = {
  readonly [Name in keyof O]?: Kept<NonNullable<z.output<O[Name]['schema']>>> | undefined;
};
type Kept<Value> = Value extends readonly (infer Each)[] ? readonly Each[] : Value;

/** Null, false and an empty list ask for nothing. */
export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);

/** The plain options that a request gives, as they are kept. */
export function keptOptions<O extends Options>(options: O, request: object): KeptOptions<O> {
  const values = request as Readonly<Record<string, unknown>>;
  const kept = Object.entries<PlainOption>(options)
    .filter(([name]) => isGiven(values[name]))
    .map(([name, { keeps }]) => [name, keeps === undefined ? values[name] : keeps(values[name] as never)]);
  return Object.fromEntries(kept) as KeptOptions<O>;
}

/** The schema of a value that was given: without the default, and without null for none. */
export function givenSchema(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    return givenSchema(schema.unwrap() as z.ZodType);
  }
  return schema;
}
