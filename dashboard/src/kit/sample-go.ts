import { enclosed, goLiteral, jsonText, presentEntries, stringLiteral } from './sample-literals.ts';
import { type ClientMethod, goName, type Sample } from './sample-operations.ts';

const INDENT = '\t';
const CLIENT_IMPORT = 'scrapifie "github.com/scrapifie/scrapifie-go"';

/** The standard packages, then a blank line, then the client. */
function program(imports: readonly string[], hasClient: boolean, body: readonly string[]): string {
  const lines = [...imports].sort().map((name) => `${INDENT}"${name}"`);
  return [
    'package main',
    '',
    'import (',
    ...lines,
    ...(hasClient ? ['', `${INDENT}${CLIENT_IMPORT}`] : []),
    ')',
    '',
    'func main() {',
    ...body.map((line) => (line === '' ? '' : INDENT + line)),
    '}',
  ].join('\n');
}

/** `url.Values` of a query. */
function valuesLiteral(query: object): string {
  const entries = presentEntries(query).map(
    ([name, value]) =>
      `${stringLiteral(name)}: {${(Array.isArray(value) ? value : [value]).map((each) => stringLiteral(String(each))).join(', ')}}`,
  );
  return entries.length === 0
    ? 'nil'
    : enclosed('url.Values{', entries, '}', { margin: INDENT, indent: INDENT });
}

/** Methods that take a query beside an id and a context. */
const WITH_VALUES = new Set(['snapshots.get', 'snapshots.diff']);

function argumentsOf({ operation, body, fields }: Sample, client: ClientMethod): readonly string[] {
  const own = client.goArguments ?? [];
  const ids = [...operation.params, ...own.map((name) => String(fields[name] ?? ''))].map(stringLiteral);
  const others = Object.fromEntries(presentEntries(operation.query).filter(([name]) => !own.includes(name)));
  if (client.kind === 'list') return [...ids, valuesLiteral(others)];
  if (client.name === 'jobs.events') return ['ctx', ...ids, 'scrapifie.EventOptions{}'];
  if (WITH_VALUES.has(client.name)) return ['ctx', ...ids, valuesLiteral(others)];
  return ['ctx', ...ids, ...(body === undefined ? [] : [goLiteral(body, INDENT)])];
}

const fatal = ['if err != nil {', `${INDENT}log.Fatal(err)`, '}'];

export function goProgram(sample: Sample, client: ClientMethod): string {
  const given = argumentsOf(sample, client);
  const call = `client.${goName(client.name)}(${given.join(', ')})`;
  const open = call.slice(0, -1);
  const use: Record<ClientMethod['kind'], readonly string[]> = {
    value: [`answer, err := ${call}`, ...fatal, 'fmt.Printf("%+v\\n", answer)'],
    nothing: [`if err := ${call}; err != nil {`, `${INDENT}log.Fatal(err)`, '}'],
    list: [
      `items := ${call}`,
      'for items.Next(ctx) {',
      `${INDENT}fmt.Printf("%+v\\n", items.Item())`,
      '}',
      'if err := items.Err(); err != nil {',
      `${INDENT}log.Fatal(err)`,
      '}',
    ],
    stream: [
      `err := ${open}, func(item *scrapifie.${client.goItem}) error {`,
      `${INDENT}fmt.Printf("%+v\\n", item)`,
      `${INDENT}return nil`,
      '})',
      ...fatal,
    ],
    bytes: [
      `body, err := ${call}`,
      ...fatal,
      'defer body.Close()',
      'if _, err := io.Copy(os.Stdout, body); err != nil {',
      `${INDENT}log.Fatal(err)`,
      '}',
    ],
  };
  const imports = [
    'context',
    'log',
    ...(client.kind === 'bytes' ? ['io', 'os'] : client.kind === 'nothing' ? [] : ['fmt']),
    ...(call.includes('url.Values{') ? ['net/url'] : []),
  ];
  return program(imports, true, [
    'ctx := context.Background()',
    'client := scrapifie.New(scrapifie.Options{',
    `${INDENT}BaseURL: ${stringLiteral(sample.origin)},`,
    `${INDENT}APIKey:  "YOUR_KEY",`,
    '})',
    '',
    ...use[client.kind],
  ]);
}

/** The request by the standard library alone. */
export function goHttpProgram({ method, url, body }: Sample, why: string): string {
  const content = body === undefined ? 'nil' : `strings.NewReader(${stringLiteral(jsonText(body))})`;
  return program(['fmt', 'io', 'log', 'net/http', ...(body === undefined ? [] : ['strings'])], false, [
    `// ${why}`,
    `request, err := http.NewRequest("${method}", ${stringLiteral(url)}, ${content})`,
    ...fatal,
    'request.Header.Set("Authorization", "Bearer YOUR_KEY")',
    ...(body === undefined ? [] : ['request.Header.Set("Content-Type", "application/json")']),
    'response, err := http.DefaultClient.Do(request)',
    ...fatal,
    'defer response.Body.Close()',
    'answer, err := io.ReadAll(response.Body)',
    ...fatal,
    'fmt.Println(string(answer))',
  ]);
}
