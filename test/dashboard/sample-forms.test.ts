import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type SampleRequest, sampleForms } from '../../dashboard/src/kit/sample-forms.ts';
import {
  goLiteral,
  jsonText,
  pythonArguments,
  shellWord,
  stringLiteral,
  typescriptLiteral,
} from '../../dashboard/src/kit/sample-literals.ts';
import { CLIENT_METHODS, goName } from '../../dashboard/src/kit/sample-operations.ts';
import { TOOL_CALLS } from '../../dashboard/src/kit/sample-tools.ts';
import { Scrapifie } from '../../sdk/typescript/src/index.ts';
import { toolsNamed } from '../../src/http/mcp/tools/tool-choice.ts';

const ORIGIN = 'http://127.0.0.1:3000';
const textOf = (request: SampleRequest, form: string): string =>
  sampleForms(request, ORIGIN).find(({ name }) => name === form)?.text ?? '';

const HOSTILE = [
  `'; rm -rf / #`,
  `"); process.exit(1); ("`,
  '`$' + '{process.exit()}` $(id) !!',
  '\\',
  '\\"',
  "'''",
  '"""',
  'line\nline\r\n\ttab\0nul\b\f\v',
  '\u2028\u2029\u202e\u200b\ufeff\u0085',
  '</script><!--',
  '@/etc/passwd',
  '%s %n {0} #{x} \\N{DASH}',
  '日本語 😀',
  '\ud800 alone',
  '__proto__',
];

/** What a POSIX shell makes of words in single quotes, and of `\'` between them. */
const unquoted = (word: string): string =>
  word.replace(/'([^']*)'|\\'/g, (_, inside: string | undefined) => inside ?? "'");

describe('samples of code', () => {
  it.each(HOSTILE)('carry %j as a value and never as code', (text) => {
    expect(JSON.parse(stringLiteral(text))).toBe(text.toWellFormed());
    expect(stringLiteral(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    const value = { url: text, headers: { [text]: text }, list: [text, 1, true, null] };
    // A literal that sets a prototype would have lost the header `__proto__`.
    const made = runInNewContext(`JSON.stringify(${typescriptLiteral(value)})`);
    expect(JSON.parse(made)).toEqual(JSON.parse(jsonText(value)));
    const curl = textOf({ method: 'POST', path: '/v1/scrape', body: value }, 'curl');
    const data = curl.slice(curl.indexOf('-d ') + 3);
    expect(Object.entries(JSON.parse(unquoted(data)))).toEqual(Object.entries(JSON.parse(jsonText(value))));
    expect(unquoted(shellWord(text))).toBe(text);
  });

  it('keep each line of a comment a comment', () => {
    const body = { url: 'https://example.com/', 'evil\nimport os': 1 };
    const mcp = textOf({ method: 'POST', path: '/v1/scrape', body }, 'MCP');
    const comments = mcp.slice(0, mcp.indexOf('\n{')).split('\n');
    expect(comments.every((line) => line.startsWith('// '))).toBe(true);
    expect(comments).toContain('// The tool scrape does not take evil\\nimport os.');
  });

  it('hand names that Python reserves or cannot read over by **', () => {
    expect(pythonArguments({ by: 'day', from: '2026-01-01', 'a b': 1, none: undefined })).toEqual([
      'by="day"',
      '**{"from": "2026-01-01", "a b": 1}',
    ]);
  });

  it('write whole numbers beyond an int of Go as floats', () => {
    expect(goLiteral([1, 2 ** 80, 1.5])).toBe('[]any{1, 1.2089258196146292e+24, 1.5}');
  });

  it('name methods that all three clients have', () => {
    const client = new Scrapifie({ baseUrl: ORIGIN, apiKey: 'k' });
    const python = readFileSync('sdk/python/src/scrapifie/_sync_client.py', 'utf8');
    const go = ['client', 'jobs', 'resources', 'stored'].map((name) =>
      readFileSync(`sdk/go/${name}.go`, 'utf8'),
    );
    for (const { name } of Object.values(CLIENT_METHODS)) {
      const parts = name.split('.');
      const [family, method] = parts.length === 1 ? ['Client', name] : parts;
      const owner = parts.length === 1 ? client : client[family as 'jobs'];
      expect(typeof owner[method as keyof typeof owner], name).toBe('function');
      const inGo = goName(`${family}.${method}`).split('.');
      expect(go.join('\n'), name).toMatch(new RegExp(`^func \\(\\w \\*${inGo[0]}\\) ${inGo[1]}\\(`, 'm'));
      const classOf = parts.length === 1 ? 'Scrapifie' : inGo[0];
      const own = python.slice(python.search(new RegExp(`^class ${classOf}:`, 'm'))).split(/\nclass /)[0];
      expect(own, name).toMatch(new RegExp(`^    def ${method}\\(`, 'm'));
    }
  });

  const requests: readonly SampleRequest[] = [
    {
      method: 'POST',
      path: '/v1/scrape',
      body: {
        url: 'https://example.com/',
        formats: ['text', 'links'],
        wait: { selector: '#a', ms: 5 },
        maxAge: 5,
      },
    },
    {
      method: 'POST',
      path: '/v1/scrape',
      body: { url: 'https://a.b/', formats: ['screenshot'], screenshot: { fullPage: true } },
    },
    {
      method: 'POST',
      path: '/v1/scrape',
      body: { url: 'https://a.b/', extract: { type: 'product', rules: { t: 'h1' } } },
    },
    { method: 'POST', path: '/v1/map', body: { url: 'https://a.b/', limit: 10 } },
    {
      method: 'POST',
      path: '/v1/crawl',
      body: { urls: ['https://a.b/'], maxPages: 5, include: ['/a/*'], options: {} },
    },
    { method: 'POST', path: '/v1/batch', body: { urls: ['https://a.b/'] } },
    { method: 'POST', path: '/v1/query', body: { from: 'pages', select: ['url'] } },
    { method: 'POST', path: '/v1/query', body: { sql: 'select 1' } },
    { method: 'GET', path: '/v1/search?q=hat&host=a.b' },
    { method: 'GET', path: '/v1/usage?by=host&from=2026-01-01' },
    { method: 'GET', path: '/v1/jobs?status=failed' },
    { method: 'GET', path: '/v1/jobs/1/why?url=https%3A%2F%2Fa.b%2F' },
    { method: 'GET', path: '/v1/jobs/1/diff?against=2' },
    { method: 'POST', path: '/v1/jobs/1/exports', body: { type: 'full', format: 'csv' } },
    { method: 'GET', path: '/v1/pages?url=https%3A%2F%2Fa.b%2F' },
    { method: 'GET', path: '/v1/snapshots/1/diff/2?mode=line' },
    {
      method: 'POST',
      path: '/v1/monitors',
      body: { name: 'm', urls: ['https://a.b/'], schedule: { every: '1h' }, watch: { selectors: ['h1'] } },
    },
    {
      method: 'POST',
      path: '/v1/schedules',
      body: { name: 's', cron: '0 4 * * *', job: { kind: 'crawl', urls: ['https://a.b/'], maxPages: 5 } },
    },
    { method: 'GET', path: '/v1/monitors/1/changes' },
    ...['cancel', 'resume', 'retry'].map((what) => ({ method: 'POST', path: `/v1/jobs/1/${what}` }) as const),
    ...['jobs/1', 'jobs/1/errors', 'exports/1', 'monitors', 'schedules'].map(
      (what) => ({ method: 'GET', path: `/v1/${what}` }) as const,
    ),
    { method: 'DELETE', path: '/v1/monitors/1' },
    { method: 'DELETE', path: '/v1/schedules/1' },
  ];

  it('call tools of the MCP server with arguments that these take', () => {
    const tools = new Map(toolsNamed(['all'], 'INVALID_USAGE').map((tool) => [tool.name, tool]));
    for (const request of requests) {
      const text = textOf(request, 'MCP');
      const { params } = JSON.parse(text.slice(text.search(/^\{/m)));
      const tool = tools.get(params.name);
      expect(tool, text).toBeDefined();
      expect(Object.keys(tool?.input.parse(params.arguments) as object)).toEqual(
        expect.arrayContaining(Object.keys(params.arguments)),
      );
    }
    // Every operation with a tool is among the requests above.
    const patterns = Object.keys(TOOL_CALLS).map((route) => {
      const [method, path = ''] = route.split(' ');
      return { method, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '\\d+')}(\\?|$)`) };
    });
    for (const { method, pattern } of patterns) {
      expect(
        requests.some((each) => each.method === method && pattern.test(each.path)),
        String(pattern),
      ).toBe(true);
    }
  });

  it('say so where a client or the MCP server has nothing for an operation', () => {
    const request: SampleRequest = {
      method: 'PUT',
      path: '/v1/credentials/a%20b',
      body: { password: `p"'` },
    };
    expect(textOf(request, 'TypeScript')).toMatch(/^\/\/ The TypeScript client has no method/);
    expect(textOf(request, 'Python')).toMatch(/^# The Python client has no method/);
    expect(textOf(request, 'Go')).toContain('// The Go client has no method');
    expect(textOf(request, 'MCP')).toMatch(/^# The MCP server has no tool/);
  });
});
