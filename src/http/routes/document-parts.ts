/** What of an OpenAPI document is looked at to name its parts. */
export interface ApiDocument {
  readonly components?: {
    readonly schemas?: Readonly<Record<string, object>>;
    readonly parameters?: Readonly<Record<string, object>>;
    readonly responses?: Readonly<Record<string, object>>;
  };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: RequestBody;
  parameters?: readonly object[];
  responses?: Readonly<Record<string, object>>;
}

interface RequestBody {
  required?: boolean;
  readonly content: Record<string, Media>;
}

interface Media {
  schema: BodySchema;
  example?: unknown;
  examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface BodySchema {
  readonly $ref?: string;
  readonly examples?: readonly unknown[];
  readonly type?: string;
  readonly anyOf?: readonly BodySchema[];
}

/** Components of the document have each part of it once: bodies, parameters of many operations, and answers of errors. */
export const nameParts = <T extends ApiDocument>(document: T): T => shareParts(nameRequests(document));

const PREFIX = '#/components/schemas/';
/** What the generator of the document appends to the name of a schema as requests have it, before defaults are filled in. */
const INPUT = /Input$/;

/**
 * Makes the JSON body of every operation a component, so that documents and generated clients have each schema once, under a name that
 * people can read: that of the schema itself, else `CreateKeyRequest` after the operation. A schema that only requests use loses
 * the suffix `Input`; one that answers have as well keeps it where the two differ.
 */
function nameRequests<T extends ApiDocument>(document: T): T {
  const all = document.components?.schemas ?? {};
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods));
  const answered = reachable(
    operations.map(({ responses }) => responses),
    all,
  );
  const asked = reachable(
    operations.map(({ requestBody, parameters }) => [requestBody, parameters]),
    all,
  );
  const newNames = new Map<string, string>();
  for (const name of asked) {
    const plain = name.replace(INPUT, '');
    const isOwn = !answered.has(plain) || JSON.stringify(all[plain]) === JSON.stringify(all[name]);
    if (plain !== name && isOwn) newNames.set(name, plain);
  }
  const replaced = new Set(newNames.values());
  const schemas: Record<string, BodySchema> = {};
  for (const [name, schema] of Object.entries(all)) {
    if (INPUT.test(name) ? !asked.has(name) : replaced.has(name)) continue;
    schemas[newNames.get(name) ?? name] = schema;
  }
  const examplesOf = new Map<string, readonly unknown[]>();
  for (const { operationId = '', requestBody } of operations) {
    const json = requestBody?.content['application/json'];
    if (requestBody === undefined || json === undefined) continue;
    const schema = withoutNull(json.schema, requestBody);
    const given = schema.$ref?.slice(PREFIX.length);
    const name =
      given === undefined
        ? `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Request`
        : (newNames.get(given) ?? given);
    const { examples, ...named } = schemas[name] ?? schema;
    schemas[name] = named;
    json.schema = { $ref: PREFIX + name };
    if (examples !== undefined) examplesOf.set(name, examples);
    showExamples(json, examplesOf.get(name) ?? []);
  }
  // Schemas register themselves when their modules load: without an order of their own, a changed import would change the document.
  const inOrder = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return renamed({ ...document, components: { ...document.components, schemas: inOrder } }, newNames);
}

/** OpenAPI has the examples of a body beside its schema. */
function showExamples(json: Media, examples: readonly unknown[]): void {
  if (examples.length === 0 || json.example !== undefined || json.examples !== undefined) return;
  if (examples.length === 1) json.example = examples[0];
  else {
    json.examples = Object.fromEntries(
      examples.map((value, index) => [`example${index + 1}`, { value }] as const),
    );
  }
}

/** A body that may be null may as well be missing; OpenAPI says that beside the schema. */
function withoutNull(schema: BodySchema, body: RequestBody): BodySchema {
  const { anyOf, ...rest } = schema;
  if (anyOf === undefined || !anyOf.some(({ type }) => type === 'null')) return schema;
  const [only, ...others] = anyOf.filter(({ type }) => type !== 'null');
  body.required = false;
  return others.length === 0 ? { ...only, ...rest } : { ...rest, anyOf };
}

/** The answers of errors are the same for every operation. */
const ERRORS = { '4XX': 'RequestRefused', '5XX': 'ServerFailed' } as const;
/** Parameters that more operations have than this are components. */
const FEW = 3;

/** Refers to the errors and the most frequent parameters by their names. */
function shareParts<T extends ApiDocument>(document: T): T {
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods));
  const responses: Record<string, object> = {};
  for (const operation of operations) {
    const own: Record<string, object> = { ...operation.responses };
    for (const [status, name] of Object.entries(ERRORS)) {
      if (own[status] === undefined) continue;
      responses[name] ??= own[status];
      own[status] = { $ref: `#/components/responses/${name}` };
    }
    operation.responses = own;
  }
  const parameters = new Map<string, object>();
  const names = namesOfParameters(operations.flatMap(({ parameters: own = [] }) => own));
  for (const operation of operations) {
    if (operation.parameters === undefined) continue;
    operation.parameters = operation.parameters.map((parameter) => {
      const name = names.get(JSON.stringify(parameter));
      if (name === undefined) return parameter;
      parameters.set(name, parameter);
      return { $ref: `#/components/parameters/${name}` };
    });
  }
  return {
    ...document,
    components: { ...document.components, parameters: Object.fromEntries(parameters), responses },
  };
}

/** Names by the text of a parameter, for those that many operations have; of several with one name, the most frequent one has it. */
function namesOfParameters(all: readonly object[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const text of all.map((each) => JSON.stringify(each))) counts.set(text, (counts.get(text) ?? 0) + 1);
  const names = new Map<string, string>();
  for (const [text, count] of [...counts].toSorted(([, one], [, other]) => other - one)) {
    const { name } = JSON.parse(text) as { readonly name: string };
    const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    const named = words.join('');
    if (count > FEW && ![...names.values()].includes(named)) names.set(text, named);
  }
  return names;
}

/** The names of all components that are reached from `roots`. */
function reachable(
  roots: readonly unknown[],
  schemas: Readonly<Record<string, object>>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting: unknown[] = [...roots];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, value] of Object.entries(next)) {
      if (key !== '$ref' || typeof value !== 'string') waiting.push(value);
      else if (value.startsWith(PREFIX) && !found.has(value.slice(PREFIX.length))) {
        found.add(value.slice(PREFIX.length));
        waiting.push(schemas[value.slice(PREFIX.length)]);
      }
    }
  }
  return found;
}

const renamed = <T extends object>(document: T, newNames: ReadonlyMap<string, string>): T =>
  JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(PREFIX)) return value;
    const name = value.slice(PREFIX.length);
    return PREFIX + (newNames.get(name) ?? name);
  }) as T;
