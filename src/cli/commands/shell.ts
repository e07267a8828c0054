import { createInterface } from 'node:readline';
import { createExtraction, type Extraction, type GivenPage } from '../../capabilities/jobs/extraction.ts';
import { EXTRACT_TYPES } from '../../capabilities/jobs/request/extract-fields.ts';
import { readOptionsOf, reextractRequestSchema } from '../../capabilities/jobs/request/extraction-request.ts';
import { scrapeRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../../capabilities/jobs/results/job-reader.ts';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import { listen } from '../../core/errors/guarded.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { runsScripts } from '../../core/model/engine-traits.ts';
import { type Fetcher, type FetcherFlags, withFetcher } from '../backend/fetcher.ts';
import { tellAssumedSchemes } from '../flags/command-inputs.ts';
import { FLAGS, given, parseFlags, readSettings } from '../flags/flags.ts';
import { type OptionFlags, PAGE_FLAG_OF, PAGE_FLAGS, pageFieldsOf } from '../flags/option-flags.ts';
import { parseYaml, readYamlFile } from '../flags/yaml-file.ts';
import { helpBelow } from '../output/help.ts';
import { writePageText } from '../output/screen.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface ShellFlags extends OptionFlags, FetcherFlags {
  readonly robots: boolean;
  readonly timeout?: number;
  readonly header?: Record<string, string>;
}

const FLAG_OF = { url: 'URL', timeoutMs: '--timeout', ...PAGE_FLAG_OF };

const TRIAL_HELP = `css SELECTOR        what a CSS selector finds; SELECTOR@NAME for an attribute
xpath EXPRESSION    what an XPath expression finds
rules FILE          what the rules of a YAML or JSON file find; rules {"title": "h1"} for rules on the line
extract TYPE        the page as a thing of this type; auto decides
links [TEXT]        its links, those whose address or text has TEXT
markdown, text      its main content
html, metadata, structured
open URL            another page
help, quit
`;

const EXAMPLES = `
Fetches the page once, then reads commands, a line each; nothing more is fetched but what "open" names. Lines may be piped
in: then a line that is wrong makes the command end with 2.

${TRIAL_HELP}
Examples:
  scrapifie shell https://example.com
  echo 'css h1' | scrapifie shell https://example.com
  scrapifie shell https://example.com --engine browser --wait-for '#list'`;

/** Lists beyond are cut; the rest is counted. */
const MOST_SHOWN = 200;

/** A mistake is reported by the word that was typed. */
const EXTRACT_FLAG_NAMES = {
  'extract.rules.found.css': 'css',
  'extract.rules.found.xpath': 'xpath',
  'extract.rules.found': 'the selector',
  'extract.rules': 'rules',
  'extract.type': 'extract',
};

export const define: DefineCommand = (command, shell, endWith) => {
  command.argument('<url>', 'the page');
  for (const flag of [
    ...PAGE_FLAGS,
    'allowPrivate',
    'noRobots',
    'timeout',
    'dataDir',
    'api',
    'apiKey',
  ] as const) {
    command.addOption(FLAGS[flag]());
  }
  command.addHelpText('afterAll', helpBelow(EXAMPLES)).action(async (url: string, flags: ShellFlags) => {
    tellAssumedSchemes(shell, [url]);
    const exitCode = await withFetcher(shell, flags, (fetcher) => tryOut(shell, fetcher, url, flags));
    endWith(exitCode ?? EXIT.interrupted);
  });
};

async function tryOut(shell: Shell, fetcher: Fetcher, url: string, flags: ShellFlags): Promise<number> {
  const open = async (target: string): Promise<OpenPage> => {
    const request = given({
      url: target,
      ...pageFieldsOf(flags),
      formats: ['rawHtml', 'html'],
      session: flags.session,
      timeoutMs: flags.timeout,
      headers: flags.header,
      obeyRobots: flags.robots,
    });
    parseFlags(scrapeRequestSchema, request, FLAG_OF);
    return pageOf(await fetcher.scrape(request));
  };
  const page = await open(url);
  const reader = await shell.openExtractor(1, readSettings(shell).plugins);
  const isTyped = shell.stdin.isTTY === true;
  const lines = createInterface({
    input: shell.stdin,
    ...(isTyped ? { output: shell.stdout, prompt: '> ', terminal: true } : {}),
  });
  // Without a listener the terminal would only be paused.
  listen(lines, 'SIGINT', () => lines.close());
  let exitCode: number = EXIT.ok;
  try {
    const extraction = createExtraction({ reader, now: Date.now });
    const trial = createPageTrial(page, { extraction, open, cwd: shell.cwd });
    shell.stderr.write(describePage(page));
    if (isTyped) lines.prompt();
    for await (const line of lines) {
      try {
        const printed = await trial.run(line);
        if (printed === null) break;
        writePageText(shell.stdout, printed);
      } catch (error) {
        if (!isScrapifieError(error)) throw error;
        shell.stderr.write(`error ${error.code}: ${error.message}\n`);
        // A person sees what was wrong; a script sees the exit code.
        if (!isTyped) exitCode = error.spec.exitCode;
      }
      if (isTyped) lines.prompt();
    }
    return exitCode;
  } finally {
    lines.close();
    await reader.close();
  }
}

/** A rendered document for a page that a browser has rendered; else the one that was sent. */
function pageOf({ finalUrl, statusCode, contentType, title, html, rawHtml, trace }: ScrapeResult): OpenPage {
  const isRendered = runsScripts(trace.attempts.at(-1)?.engine ?? 'http');
  const body = Buffer.from((isRendered ? html : rawHtml) ?? '');
  const type = `${(contentType ?? 'text/html').split(';', 1)[0]}; charset=utf-8`;
  return { url: finalUrl, statusCode, contentType: type, title, body };
}

/** A page that is open for trials, and what is known of its fetch. */
interface OpenPage extends GivenPage {
  readonly statusCode: number | null;
  readonly title: string | null;
}

interface TrialParts {
  readonly extraction: Pick<Extraction, 'read'>;
  /** Fetches a page. Throws what a scrape throws. */
  readonly open: (url: string) => Promise<OpenPage>;
  /** Where files of rules are. */
  readonly cwd: string;
}

/** Tries selectors and rules on one page, a command per line. */
interface PageTrial {
  /** The text to print; null: the trial is over. Throws what was wrong with the line. */
  run(line: string): Promise<string | null>;
}

function createPageTrial(page: OpenPage, { extraction, open, cwd }: TrialParts): PageTrial {
  let current = page;

  /** The page by these formats and this field `extract`. */
  async function read(wanted: { formats?: string[]; extract?: object }): Promise<PageResult> {
    return extraction.read(
      current,
      readOptionsOf(parseFlags(reextractRequestSchema, wanted, EXTRACT_FLAG_NAMES)),
    );
  }

  async function found(rule: object): Promise<string> {
    const { extracted, extractProblems = [] } = await read({ extract: { rules: { found: rule } } });
    const problem = extractProblems.find(({ path }) => path !== undefined)?.message;
    if (problem !== undefined) throw new ScrapifieError('INVALID_USAGE', problem);
    const values = (extracted?.found ?? []) as readonly unknown[];
    return listing(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))));
  }

  const COMMANDS: Readonly<Record<string, (rest: string) => Promise<string>>> = {
    css(rest) {
      const [, css = '', attribute = 'text'] =
        /^(.*?)(?:@([\w:.-]+))?$/s.exec(required(rest, 'a selector')) ?? [];
      return found({ css: css.trim(), attribute, list: true });
    },
    xpath: (rest) => found({ xpath: required(rest, 'an expression'), list: true }),
    async rules(rest) {
      const text = required(rest, 'a file, or rules in braces');
      const rules = text.startsWith('{') ? parseYaml(text, 'rules') : readYamlFile(cwd, text, 'rules').value;
      const { extracted, extractProblems } = await read({ extract: { rules } });
      return json(extractProblems === undefined ? extracted : { extracted, extractProblems });
    },
    async extract(rest) {
      const { extracted, extractedType } = await read({
        extract: { type: required(rest, EXTRACT_TYPES.join(', ')) },
      });
      return json({ extractedType, extracted });
    },
    async links(rest) {
      const { links = [] } = await read({ formats: ['links'] });
      const wanted = rest.toLowerCase();
      const matching = links.filter(({ url, text }) => `${url} ${text}`.toLowerCase().includes(wanted));
      return listing(matching.map(({ url, text }) => (text === '' ? url : `${url}  ${text}`)));
    },
    markdown: async () => whole((await read({ formats: ['markdown'] })).markdown),
    text: async () => whole((await read({ formats: ['text'] })).text),
    html: async () => whole((await read({ formats: ['html'] })).html),
    metadata: async () => json((await read({ formats: ['metadata'] })).metadata),
    structured: async () => json((await read({ formats: ['structured'] })).structured),
    async open(rest) {
      current = await open(required(rest, 'a URL'));
      return describePage(current);
    },
    help: async () => TRIAL_HELP,
  };

  return {
    async run(line) {
      const [, name = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
      if (name === '') return '';
      if (name === 'quit' || name === 'exit') return null;
      const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      if (command === undefined) {
        throw new ScrapifieError('INVALID_USAGE', `There is no "${name}"; "help" lists what there is.`);
      }
      return command(rest);
    },
  };
}

const describePage = ({ url, statusCode, title, body }: OpenPage): string =>
  `${url}  ${statusCode ?? ''}  ${body.byteLength} bytes  ${title ?? '(no title)'}\n`;

function required(rest: string, what: string): string {
  if (rest === '') throw new ScrapifieError('INVALID_USAGE', `Needs ${what}.`);
  return rest;
}

function listing(lines: readonly string[]): string {
  const shown = lines.slice(0, MOST_SHOWN).map((line) => `${line}\n`);
  const more = lines.length > MOST_SHOWN ? `… and ${lines.length - MOST_SHOWN} more\n` : '';
  return `${shown.join('')}${more}(${lines.length} found)\n`;
}

const json = (value: unknown) => `${JSON.stringify(value ?? null, null, 2)}\n`;
const whole = (text: string | null | undefined) => (text ? `${text.replace(/\n$/, '')}\n` : '(nothing)\n');
