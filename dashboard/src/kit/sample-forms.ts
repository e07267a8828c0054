import { goHttpProgram, goProgram } from './sample-go.ts';
import {
  enclosed,
  jsonText,
  presentEntries,
  pythonArguments,
  pythonLiteral,
  shellWord,
  stringLiteral,
  typescriptLiteral,
} from './sample-literals.ts';
import {
  CLIENT_METHODS,
  type ClientMethod,
  operationAt,
  type Sample,
  type SampleRequest,
} from './sample-operations.ts';
import { TOOL_CALLS } from './sample-tools.ts';

export type { SampleRequest };

export interface SampleForm {
  readonly name: string;
  readonly text: string;
}

/** curl takes brackets and braces of a URL for patterns. */
const withoutPatterns = (path: string): string => path.replace(/[[\]{}]/g, encodeURIComponent);

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function sampleOf(request: SampleRequest, origin: string): Sample {
  const operation = operationAt(request.method, request.path);
  return {
    ...request,
    origin,
    url: origin + withoutPatterns(request.path),
    operation,
    client: operation.route === null ? null : (CLIENT_METHODS[operation.route] ?? null),
    fields: isFields(request.body) ? request.body : operation.query,
  };
}

function curlForm({ method, url, body }: Sample): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(url)}`,
    `-H 'Authorization: Bearer YOUR_KEY'`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${shellWord(jsonText(body, 2))}`]),
  ];
  return lines.join(' \\\n  ');
}

const noMethod = (language: string): string =>
  `The ${language} client has no method for this operation: this is the plain HTTP request.`;

function typescriptForm(sample: Sample): string {
  const { client, origin, operation, fields } = sample;
  if (client === null) return typescriptHttp(sample);
  const ids = operation.params.map(stringLiteral);
  const values = client.isSpread
    ? Object.values(fields).map((value) => typescriptLiteral(value))
    : presentEntries(fields).length === 0
      ? []
      : [typescriptLiteral(fields)];
  const call = `client.${client.name}(${[...ids, ...values].join(', ')})`;
  const head = [
    "import { Scrapifie } from '@scrapifie/client';",
    '',
    `const client = new Scrapifie({ baseUrl: ${stringLiteral(origin)}, apiKey: 'YOUR_KEY' });`,
    '',
  ];
  const use: Record<ClientMethod['kind'], readonly string[]> = {
    value: [`const answer = await ${call};`, 'console.log(answer);'],
    nothing: [`await ${call};`],
    list: [`for await (const item of ${call}) console.log(item);`],
    stream: [`for await (const item of ${call}) console.log(item);`],
    bytes: [`const bytes = await new Response(await ${call}).bytes();`, 'console.log(bytes.length);'],
  };
  return [...head, ...use[client.kind]].join('\n');
}

function typescriptHttp({ method, url, body }: Sample): string {
  return [
    `// ${noMethod('TypeScript')}`,
    `const response = await fetch(${stringLiteral(url)}, {`,
    `  method: '${method}',`,
    `  headers: { authorization: 'Bearer YOUR_KEY'${body === undefined ? '' : ", 'content-type': 'application/json'"} },`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${typescriptLiteral(body, '  ')}),`]),
    '});',
    'console.log(await response.json());',
  ].join('\n');
}

function pythonForm(sample: Sample): string {
  const { client, origin, operation, fields } = sample;
  if (client === null) return pythonHttp(sample);
  const values = [...operation.params.map(stringLiteral), ...pythonArguments(fields, '    ')];
  const call = enclosed(`client.${client.name}(`, values, ')', { margin: '    ', indent: '    ' });
  const use: Record<ClientMethod['kind'], readonly string[]> = {
    value: [`    answer = ${call}`, '    print(answer)'],
    nothing: [`    ${call}`],
    list: [`    for item in ${call}:`, '        print(item)'],
    stream: [`    for item in ${call}:`, '        print(item)'],
    bytes: ['    with open("download", "wb") as file:', `        file.writelines(${call})`],
  };
  return [
    'from scrapifie import Scrapifie',
    '',
    `with Scrapifie(${stringLiteral(origin)}, "YOUR_KEY") as client:`,
    ...use[client.kind],
  ].join('\n');
}

function pythonHttp({ method, url, body }: Sample): string {
  return [
    `# ${noMethod('Python')}`,
    'import httpx',
    '',
    'response = httpx.request(',
    `    "${method}",`,
    `    ${stringLiteral(url)},`,
    '    headers={"Authorization": "Bearer YOUR_KEY"},',
    ...(body === undefined ? [] : [`    json=${pythonLiteral(body, '    ')},`]),
    ')',
    'print(response.json())',
  ].join('\n');
}

const goForm = (sample: Sample): string =>
  sample.client === null ? goHttpProgram(sample, noMethod('Go')) : goProgram(sample, sample.client);

function mcpForm(sample: Sample): string {
  const { operation, body } = sample;
  const { route, params, query } = operation;
  const call =
    route === null
      ? null
      : (TOOL_CALLS[route]?.({ params, query, body: isFields(body) ? body : {} }) ?? null);
  if (call === null) {
    return `# The MCP server has no tool for this operation: this is the plain HTTP request.\n${curlForm(sample)}`;
  }
  const leftOut = call.leftOut.map(
    (name) => `// The tool ${call.name} does not take ${jsonText(name).slice(1, -1)}.`,
  );
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: call.name, arguments: call.arguments },
  };
  return [...leftOut, jsonText(message, 2)].join('\n');
}

/** The request in five forms. `origin` is where the server is, such as `http://127.0.0.1:3000`. */
export function sampleForms(request: SampleRequest, origin: string): readonly SampleForm[] {
  const sample = sampleOf(request, origin);
  return [
    { name: 'curl', text: curlForm(sample) },
    { name: 'TypeScript', text: typescriptForm(sample) },
    { name: 'Python', text: pythonForm(sample) },
    { name: 'Go', text: goForm(sample) },
    { name: 'MCP', text: mcpForm(sample) },
  ];
}
