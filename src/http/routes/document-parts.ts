/** What of an OpenAPI document is looked at to name the bodies of requests. */
export interface ApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: RequestBody;
  readonly parameters?: unknown;
  readonly responses?: unknown;
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

const PREFIX = '#/components/schemas/';
/** What the generator of the document appends to the name of a schema as requests have it, before defaults are filled in. */
const INPUT = /Input$/;

/**
 * Makes the JSON body of every operation a component, so that documents and generated clients have each schema once, under a name that
 * people can read: that of the schema itself, else `CreateKeyRequest` after the operation. A schema that only requests use loses
 * the suffix `Input`; one that answers have as well keeps it.
 */
export function nameRequests<T extends ApiDocument>(document: T): T {
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
    if (plain !== name && !answered.has(plain)) newNames.set(name, plain);
  }
  const replaced = new Set(newNames.values());
  const schemas: Record<string, BodySchema> = {};
  for (const [name, schema] of Object.entries(all)) {
    if (INPUT.test(name) ? !asked.has(name) : replaced.has(name)) continue;
    schemas[newNames.get(name) ?? name] = schema;
  }
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
    if (examples !== undefined) showExamples(json, examples);
  }
  // Schemas register themselves when their modules load: without an order of their own, a changed import would change the document.
  const inOrder = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return renamed({ ...document, components: { ...document.components, schemas: inOrder } }, newNames);
}

/** OpenAPI has the examples of a body beside its schema. */
function showExamples(json: Media, examples: readonly unknown[]): void {
  if (json.example !== undefined || json.examples !== undefined) return;
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
