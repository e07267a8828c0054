import { styleText } from 'node:util';
import type { Settings } from '../../core/config/settings.ts';
import type { Shell } from '../shell/shell.ts';

type Style = Parameters<typeof styleText>[0];

/** What is known of the terminal that a command writes its results to. */
export interface Screen {
  /** Width of the terminal; null when results go to a file or a pipe, which get every line whole. */
  readonly columns: number | null;
  /** The text in a style, or as it is where colours are not wanted. */
  paint(style: Style, text: string): string;
}

/** Where nothing is known: whole lines without colours. */
export const PLAIN_SCREEN: Screen = { columns: null, paint: (_style, text) => text };

const USUAL_COLUMNS = 80;

/** The screen behind one of the two streams of a command. */
export function screenOf(
  { environment, ...streams }: Pick<Shell, 'environment' | 'stdout' | 'stderr'>,
  name: 'stdout' | 'stderr' = 'stdout',
): Screen {
  const stream = streams[name];
  const isColoured = hasColours(stream, environment);
  return {
    columns: stream.isTTY === true ? widthOf(stream, environment) : null,
    paint: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
  };
}

/**
 * FORCE_COLOR decides first, as in Node.js itself: 0 and false switch colours off, everything else on, also in a pipe.
 * Then NO_COLOR with any text in it switches them off (https://no-color.org). Without both, terminals have colours.
 */
export function hasColours(
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>,
  environment: NodeJS.ProcessEnv,
): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused = '', TERM: terminal } = environment;
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  if (refused !== '') return false;
  return isTTY === true && terminal !== 'dumb';
}

/** The form of log lines on standard error. */
export function logFormatOf(
  { environment, stderr }: Pick<Shell, 'environment' | 'stderr'>,
  { logFormat }: Pick<Settings, 'logFormat'>,
): { readonly format: 'json' | 'pretty'; readonly isColoured: boolean } {
  const format = logFormat ?? (stderr.isTTY === true ? 'pretty' : 'json');
  return { format, isColoured: hasColours(stderr, environment) };
}

/** A terminal that does not know its width, as some of programs have it, may be told by COLUMNS. */
function widthOf({ columns }: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): number {
  if (Number.isInteger(columns) && columns > 0) return columns;
  const told = Number(environment.COLUMNS);
  return Number.isInteger(told) && told > 0 ? told : USUAL_COLUMNS;
}
