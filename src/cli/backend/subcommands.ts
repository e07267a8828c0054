import { type Command, Option } from 'commander';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import type { Shell } from '../shell/shell.ts';
import { type Backend, MOST_LISTED } from './backend.ts';
import { type BackendFlags, withBackend } from './open-backend.ts';

export interface SubcommandFlags extends BackendFlags {
  readonly json?: true;
}
export interface ListFlags extends SubcommandFlags {
  readonly limit: number;
}

/** An answer of the API as text for a terminal. */
type Words<T> = (screen: Screen, answer: T) => string;

/** The things of one kind that an installation keeps, such as its schedules. */
interface Kind<Name extends keyof Backend> {
  /** The part of the backend that keeps them. */
  readonly name: Name;
  /** How one of them is called in messages. */
  readonly noun: string;
  /** How one of them is given on the command line: `<schedule>`. */
  readonly argument: string;
  /** The options that all subcommands have. */
  readonly withFlags: (command: Command) => Command;
  /** The id of the thing that was given; left out: what is given is the id. */
  readonly idOf?: (things: Backend[Name], given: string) => Promise<string>;
}

export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Subcommands on things of one kind. Each asks the API once, and prints the answer as words, or with `--json` as it came. */
export function subcommandsOn<Name extends keyof Backend>(
  command: Command,
  shell: Shell,
  { name, noun, argument, withFlags, idOf = async (_things, given) => given }: Kind<Name>,
) {
  type Things = Backend[Name];

  const add = (title: string, summary: string): Command =>
    withFlags(command.command(title).description(summary));

  /** Prints what the action answers. `mayMake`: a data folder that is not there is made. */
  const run = <T>(
    flags: SubcommandFlags,
    action: (things: Things) => Promise<T>,
    words: Words<T>,
    mayMake = false,
  ): Promise<void> =>
    withBackend(
      shell,
      flags,
      async (backend) => {
        const answer = await action(backend[name]);
        const lines = Array.isArray(answer) ? answer.map(jsonLine).join('') : jsonLine(answer);
        shell.stdout.write(flags.json ? lines : words(screenOf(shell), answer));
      },
      mayMake,
    );

  /** A subcommand on the one thing that is given. */
  const addOn = <T>(
    title: string,
    summary: string,
    action: (things: Things, id: string) => Promise<T>,
    words: Words<T>,
  ): void => {
    add(`${title} ${argument}`, summary).action((given: string, flags: SubcommandFlags) =>
      run(flags, async (things) => action(things, await idOf(things, given)), words),
    );
  };

  /** A subcommand that removes the one thing that is given, which is known by its id or by its name. */
  const addDelete = (
    summary: string,
    key: 'id' | 'name',
    remove: (things: Things, id: string) => Promise<void>,
  ): void =>
    addOn(
      'delete',
      summary,
      async (things, id) => {
        await remove(things, id);
        return { [key]: id, deleted: true };
      },
      (_screen, { [key]: id }) => `${noun} ${id} ${noun.endsWith('s') ? 'are' : 'is'} deleted.\n`,
    );

  return { add, addOn, addDelete, run };
}

export const limitOption = (what: string): Option =>
  new Option('--limit <n>', `${what} to show at most`).default(20).argParser(wholeNumber);

export const mostOf = ({ limit }: ListFlags): number => Math.min(MOST_LISTED, Math.max(1, limit));

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** The id of the thing that is meant by its id, or by a name that it alone has. */
export async function idNamed(
  given: string,
  noun: string,
  things: { list(limit: number): Promise<readonly { readonly id: string; readonly name: string }[]> },
): Promise<string> {
  if (ID.test(given)) return given;
  const found = (await things.list(MOST_LISTED)).filter(({ name }) => name === given);
  const [thing, ...more] = found;
  if (thing === undefined) throw new ScrapifieError('NOT_FOUND', `There is no ${noun} "${given}".`);
  if (more.length > 0) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${found.length} ${noun}s have the name "${given}": give an id.`,
    );
  }
  return thing.id;
}
