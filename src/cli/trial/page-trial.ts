import { EXTRACT_TYPES } from '../../capabilities/jobs/extract-types.ts';
import type { Extraction, GivenPage } from '../../capabilities/jobs/extraction.ts';
import { readOptionsOf, reextractRequestSchema } from '../../capabilities/jobs/extraction-request.ts';
import type { PageResult } from '../../capabilities/jobs/page-result.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { parseFlags } from '../flags/flags.ts';
import { parseYaml, readYamlFile } from '../flags/yaml-file.ts';

/** A page that is open for trials, and what is known of its fetch. */
export interface OpenPage extends GivenPage {
  readonly statusCode: number | null;
  readonly title: string | null;
}

export interface TrialParts {
  readonly extraction: Pick<Extraction, 'read'>;
  /** Fetches a page. Throws what a scrape throws. */
  readonly open: (url: string) => Promise<OpenPage>;
  /** Where files of rules are. */
  readonly cwd: string;
}

/** Tries selectors and rules on one page, a command per line. */
export interface PageTrial {
  /** The text to print; null: the trial is over. Throws what was wrong with the line. */
  run(line: string): Promise<string | null>;
}

export const TRIAL_HELP = `css SELECTOR        what a CSS selector finds; SELECTOR@NAME for an attribute
xpath EXPRESSION    what an XPath expression finds
rules FILE          what the rules of a YAML or JSON file find; rules {"title": "h1"} for rules on the line
extract TYPE        the page as a thing of this type; auto decides
links [TEXT]        its links, those whose address or text has TEXT
markdown, text      its main content
html, metadata, structured
open URL            another page
help, quit
`;

/** Lists beyond are cut; the rest is counted. */
const MOST_SHOWN = 200;

export function createPageTrial(page: OpenPage, { extraction, open, cwd }: TrialParts): PageTrial {
  let current = page;

  /** The page by these formats and this field `extract`. */
  async function read(wanted: { formats?: string[]; extract?: object }): Promise<PageResult> {
    return extraction.read(current, readOptionsOf(parseFlags(reextractRequestSchema, wanted, FLAG_OF)));
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

export const describePage = ({ url, statusCode, title, body }: OpenPage): string =>
  `${url}  ${statusCode ?? ''}  ${body.byteLength} bytes  ${title ?? '(no title)'}\n`;

/** A mistake is reported by the word that was typed. */
const FLAG_OF = {
  'extract.rules.found.css': 'css',
  'extract.rules.found.xpath': 'xpath',
  'extract.rules.found': 'the selector',
  'extract.rules': 'rules',
  'extract.type': 'extract',
};

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
