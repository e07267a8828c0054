/** The parts of an OpenAPI document that the reference pages show. */
export interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<
    Record<string, { readonly description?: string; readonly content?: Content }>
  >;
}
type Content = Readonly<
  Record<
    string,
    {
      readonly schema?: Schema;
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
    }
  >
>;

export interface ReferencePage {
  readonly slug: string;
  readonly label: string;
  readonly markdown: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Fields of fields are shown this deep; what is deeper is in the OpenAPI document. */
const DEEPEST = 2;
const MOST_VALUES = 12;

/** One page of Markdown for each group of operations of the API. */
export function apiReference(document: OpenApiDocument): readonly ReferencePage[] {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method] !== undefined).map((method) => ({
      method,
      path,
      operation: methods[method] as Operation,
    })),
  );
  return (document.tags ?? []).flatMap(({ name, description = '' }) => {
    const own = operations.filter(({ operation }) => operation.tags?.[0] === name);
    if (own.length === 0) return [];
    const title = `API: ${name}`;
    const overview = table(
      ['Call', 'What it does'],
      own.map(({ method, path, operation }) => [
        `\`${method.toUpperCase()} ${path}\``,
        operation.summary ?? '',
      ]),
    );
    const parts = own.map(({ method, path, operation }) => operationPart(document, method, path, operation));
    const intro = `${description}. Try the calls in the [interactive reference](/docs).`;
    return [
      {
        slug: `api/${name}`,
        label: title,
        markdown: [`# ${title}`, intro, overview, ...parts].join('\n\n'),
      },
    ];
  });
}

function operationPart(
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: Operation,
): string {
  const body = operation.requestBody?.content?.['application/json'];
  const parts = [
    `## ${operation.summary ?? path}`,
    `\`\`\`http\n${method.toUpperCase()} ${path}\n\`\`\``,
    operation.description ?? '',
    exampleCall(method, path, body?.example ?? Object.values(body?.examples ?? {})[0]?.value),
  ];
  const parameters = (operation.parameters ?? []).flatMap((each) =>
    '$ref' in each ? (document.components?.parameters?.[each.$ref.split('/').at(-1) ?? ''] ?? []) : [each],
  );
  if (parameters.length > 0) {
    const rows = parameters.map(
      ({ name, in: place, required, schema = {}, description = schema.description }) => [
        `\`${name}\``,
        `${place}${required === true ? ', required' : ''}`,
        typeOf(document, schema),
        meaningOf({ ...schema, ...(description !== undefined && { description }) }),
      ],
    );
    parts.push('**Parameters**', table(['Name', 'In', 'Type', 'Meaning'], rows));
  }
  if (body?.schema !== undefined) {
    const rows = fieldRows(document, body.schema, '', 1);
    if (rows.length > 0) parts.push('**Body**', table(['Field', 'Type', 'Meaning'], rows));
  }
  for (const [status, { description = '', content }] of Object.entries(operation.responses ?? {})) {
    if (!/^2\d\d$/.test(status)) continue;
    const schema = content?.['application/json']?.schema;
    const data = schema?.properties?.data ?? schema;
    const rows = data === undefined ? [] : fieldRows(document, data, '', DEEPEST);
    const kind = Object.keys(content ?? {}).filter((each) => each !== 'application/json' && each !== '*/*');
    parts.push(
      `**${status}** ${description}${kind.length > 0 ? `: ${kind.map((each) => `\`${each}\``).join(', ')}` : ''}`,
    );
    if (rows.length > 0)
      parts.push(table([schema === data ? 'Field' : 'Field of `data`', 'Type', 'Meaning'], rows));
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

function exampleCall(method: string, path: string, example: unknown): string {
  const address = `"$SCRAPIFIE_API_URL${path}"`;
  const lines = [
    `curl -s${method === 'get' || (method === 'post' && example !== undefined) ? '' : ` -X ${method.toUpperCase()}`} ${address}`,
    '-H "Authorization: Bearer $SCRAPIFIE_API_KEY"',
  ];
  if (example !== undefined) {
    lines.push(
      "-H 'Content-Type: application/json'",
      `-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`,
    );
  }
  return `\`\`\`sh\n${lines.join(' \\\n  ')}\n\`\`\``;
}

/** One row for each field, those of objects within it after it. */
function fieldRows(document: OpenApiDocument, schema: Schema, prefix: string, depth: number): string[][] {
  const { properties = {}, required = [], items } = resolved(document, schema);
  if (items !== undefined && Object.keys(properties).length === 0) {
    return fieldRows(document, items, `${prefix}[].`, depth);
  }
  return Object.entries(properties).flatMap(([name, field]) => {
    const place = `${prefix}${name}`;
    const isRequired = prefix === '' && required.includes(name);
    const row = [
      `\`${place}\``,
      `${typeOf(document, field)}${isRequired ? ', required' : ''}`,
      meaningOf(resolvedText(document, field)),
    ];
    if (depth >= DEEPEST && !(field.items !== undefined && name === 'items')) return [row];
    const inner = field.items ?? field;
    return [
      row,
      ...fieldRows(document, inner, field.items === undefined ? `${place}.` : `${place}[].`, depth + 1),
    ];
  });
}

function resolved(document: OpenApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {});
}

const resolvedText = (document: OpenApiDocument, schema: Schema): Schema => ({
  ...resolved(document, schema),
  ...schema,
});

/** In words: `string`, `integer 1–1000`, `"a" or "b"`, `list of Page`. */
function typeOf(document: OpenApiDocument, schema: Schema): string {
  if (schema.$ref !== undefined) {
    const target = resolved(document, schema);
    return target.enum === undefined ? (schema.$ref.split('/').at(-1) ?? '') : typeOf(document, target);
  }
  if (schema.enum !== undefined) {
    const shown = schema.enum.slice(0, MOST_VALUES).map((value) => `\`${String(value)}\``);
    return shown.join(', ') + (schema.enum.length > MOST_VALUES ? ' …' : '');
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    const names = [...new Set(choices.map((each) => typeOf(document, each)))];
    return names.length > 4 ? `one of ${choices.length} forms` : names.join(' or ');
  }
  if (schema.items !== undefined) return `list of ${typeOf(document, schema.items)}`;
  const name = [schema.type ?? 'any'].flat().join(' or ');
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) {
    return `${name} ${minimum}–${maximum}`;
  }
  return name;
}

function meaningOf({ description = '', default: value }: Schema): string {
  if (value === undefined || value === null || value === '') return description;
  const shown = JSON.stringify(value);
  if (shown === '[]' || shown === '{}' || shown.length > 80) return description;
  return `${description} Default: \`${shown}\`.`.trim();
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
