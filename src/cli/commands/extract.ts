import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createExtraction } from '../../capabilities/jobs/extraction.ts';
import { extractRequestSchema, readOptionsOf } from '../../capabilities/jobs/request/extraction-request.ts';
import { READ_FORMATS } from '../../capabilities/jobs/request/page-options.ts';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import { EXTRACT_FLAG_OF, EXTRACT_FLAGS, type ExtractFlags, extractFieldOf } from '../flags/extract-flags.ts';
import { FLAGS, formatFlag, given, parseFlags, readSettings } from '../flags/flags.ts';
import { type OptionFlags, PART_FLAG_OF, PART_FLAGS, partFieldsOf } from '../flags/option-flags.ts';
import { helpBelow } from '../output/help.ts';
import { printed } from '../output/output-files.ts';
import { writePageText } from '../output/screen.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface Flags extends ExtractFlags, OptionFlags, Pick<BackendFlags, 'api' | 'apiKey'> {
  readonly url: string;
  readonly format?: string[];
  readonly contentType?: string;
  readonly json?: true;
}

const FLAG_OF = {
  url: '--url',
  formats: '--format',
  contentType: '--content-type',
  ...EXTRACT_FLAG_OF,
  ...PART_FLAG_OF,
};
/** The schema is that of the API, whose pages are text; this is what it is told of a file. */
const NO_TEXT = '';

/** What a file is by its name, where that says it; everything else is told from its bytes. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'application/xhtml+xml',
  '.json': 'application/json',
  '.xml': 'application/xml',
  '.rss': 'application/rss+xml',
  '.atom': 'application/atom+xml',
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
};

const EXAMPLES = `
Prints JSON, the same as POST /v1/extract has under data; for a single format of html, rawHtml, text or markdown, that
text. Nothing is fetched. Formats are metadata, links and text unless given.

Examples:
  scrapifie extract page.html --url https://example.com/ --format markdown
  scrapifie extract page.html --url https://shop.example/hat --extract product
  curl -s https://example.com | scrapifie extract - --url https://example.com --rules rules.yaml`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<file>', 'file with the page, or - for standard input')
    .requiredOption('--url <url>', 'where the page is from: what its links are relative to')
    .addOption(formatFlag(READ_FORMATS));
  for (const flag of [...EXTRACT_FLAGS, ...PART_FLAGS, 'json', 'api', 'apiKey'] as const)
    command.addOption(FLAGS[flag]());
  command
    .option('--content-type <type>', 'media type of the file (default: from its name or content)')
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (file: string, flags: Flags) => {
      const request = given({
        html: NO_TEXT,
        url: flags.url,
        contentType: flags.contentType,
        formats: flags.format,
        extract: extractFieldOf(shell.cwd, flags),
        ...partFieldsOf(flags),
      });
      const asked = parseFlags(extractRequestSchema, request, FLAG_OF);
      const { url, formats, extract } = asked;
      const body = await readBody(shell, file);
      const contentType = flags.contentType ?? TYPES[extname(file).toLowerCase()] ?? null;
      const output = { formats, isJson: flags.json === true, hasMore: extract !== null };
      const client = apiClientOf(shell, flags);
      if (client !== null) {
        const sent = {
          ...request,
          ...given({ contentType: contentType ?? undefined }),
          html: textOf(file, body),
        };
        const page = await client.call<PageResult>('POST', '/v1/extract', sent);
        writePageText(shell.stdout, printed(page, output));
        return;
      }
      const reader = await shell.openExtractor(1, readSettings(shell).plugins);
      try {
        const extraction = createExtraction({ reader, now: Date.now });
        const page = await extraction.read({ url, body, contentType }, readOptionsOf(asked));
        writePageText(shell.stdout, printed(page, output));
      } finally {
        await reader.close();
      }
    });
};

/** Requests of the API are text. */
function textOf(file: string, body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${file} is not UTF-8 text, which is all that a server takes. Leave --api out to read it here.`,
      { cause: error },
    );
  }
}

async function readBody({ cwd, stdin }: Shell, file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(stdin);
  const path = resolve(cwd, file);
  return readFile(path).catch((error: Error) => {
    throw new ScrapifieError('INVALID_USAGE', `${path} cannot be read: ${error.message}`, { cause: error });
  });
}
