/** What the types of clients are made from: the schemas of the OpenAPI document, as far as it uses JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly summary?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export type Type =
  | { readonly kind: 'named'; readonly name: string }
  /** A component that is a choice between several types; languages without names for choices write them out. */
  | { readonly kind: 'choice'; readonly name: string; readonly of: Type }
  | { readonly kind: 'list'; readonly of: Type }
  | { readonly kind: 'map'; readonly of: Type }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | { readonly kind: 'plain'; readonly name: 'string' | 'time' | 'integer' | 'number' | 'boolean' | 'any' };

export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly isNullable: boolean;
  readonly isOptional: boolean;
  readonly description: string;
  /** The value of a field that is left out; undefined: it has none. */
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

/** An object with known fields. */
export interface Named {
  readonly name: string;
  /** The body of a request, and not a part of one or of an answer. */
  readonly isRequest: boolean;
  readonly description: string;
  readonly fields: readonly Field[];
}

export interface Choice {
  readonly name: string;
  readonly description: string;
  readonly of: Type;
  readonly isNullable: boolean;
}

/** What one operation takes and gives. */
export interface Call {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly description: string;
  /** Null: it takes none. */
  readonly query: Type | null;
  readonly pathParameters: readonly Field[];
  readonly body: Type | null;
  /** `data` of the answer when the operation succeeds; null for answers that are no JSON. */
  readonly data: Type | null;
}

export interface Model {
  /** Components under their names, inner objects under the names of their places. */
  readonly named: readonly Named[];
  readonly choices: readonly Choice[];
  readonly calls: readonly Call[];
  /** Objects that only calls have: query parameters, and answers that are no component. */
  readonly ofCalls: readonly Named[];
}

/** Everything in the document that a client has a type for. */
export function modelOf({ components, paths }: OpenApiDocument): Model {
  const named: Named[] = [];
  const ofCalls: Named[] = [];
  const choicesFound: Choice[] = [];
  let found = named;
  /** The same object in several places has one type. */
  const nameBySchema = new Map<string, string>();
  const taken = new Set(Object.keys(components.schemas));

  function add(name: string, schema: Schema, isRequest = false): void {
    const { properties = {}, required = [], description = '' } = schema;
    const fields: Field[] = [];
    // Before its fields, so that outer objects come first.
    found.push({ name, isRequest, description, fields });
    for (const [field, inner] of Object.entries(properties)) {
      const { type, isNullable } = typeOf(inner, name + pascal(field));
      fields.push({ ...fieldOf(field, inner, !required.includes(field)), type, isNullable });
    }
  }

  function nameFor(wanted: string, schema: Schema): string {
    const key = JSON.stringify({ ...schema, description: undefined });
    const known = nameBySchema.get(key);
    if (known !== undefined) return known;
    let name = wanted;
    for (let count = 2; taken.has(name); count += 1) name = `${wanted}${count}`;
    taken.add(name);
    nameBySchema.set(key, name);
    add(name, schema);
    return name;
  }

  function typeOf(schema: Schema, place: string): { type: Type; isNullable: boolean } {
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) {
      const isNull = (each: Schema) => each.type === 'null';
      const others = choices.filter((each) => !isNull(each));
      const types = others.map((each) => typeOf(each, others.length > 1 ? place + variantOf(each) : place));
      const isNullable = choices.some(isNull) || types.some((each) => each.isNullable);
      return { type: unionOf(types.map(({ type }) => type)), isNullable };
    }
    const kinds = [schema.type ?? []].flat();
    const isNullable = kinds.includes('null') || (schema.enum ?? []).includes(null);
    return {
      type: plainType(
        schema,
        kinds.filter((kind) => kind !== 'null'),
      ),
      isNullable,
    };

    function plainType(of: Schema, names: readonly string[]): Type {
      if (of.$ref !== undefined) return referenced(of.$ref);
      const words = of.const === undefined ? of.enum : [of.const];
      const texts = words?.filter((word) => word !== null);
      if (texts !== undefined && texts.length > 0 && texts.every((word) => typeof word === 'string')) {
        return { kind: 'words', words: texts as string[] };
      }
      if (names.length > 1) return unionOf(names.map((name) => plainType({ ...of, type: name }, [name])));
      switch (names[0]) {
        case 'string':
          return { kind: 'plain', name: of.format === 'date-time' ? 'time' : 'string' };
        case 'integer':
        case 'number':
        case 'boolean':
          return { kind: 'plain', name: names[0] };
        case 'array':
          return { kind: 'list', of: of.items === undefined ? ANY : typeOf(of.items, place).type };
        case 'object':
          return objectType(of);
        default:
          return ANY;
      }
    }

    function referenced(reference: string): Type {
      const name = reference.split('/').at(-1) ?? '';
      const target = components.schemas[name];
      if (target === undefined) throw new Error(`There is no schema ${name}.`);
      return isObject(target)
        ? { kind: 'named', name }
        : { kind: 'choice', name, of: typeOf(target, name).type };
    }

    function objectType(of: Schema): Type {
      if (of.properties !== undefined && Object.keys(of.properties).length > 0) {
        return { kind: 'named', name: nameFor(place, of) };
      }
      const values = of.additionalProperties;
      return { kind: 'map', of: typeof values === 'object' ? typeOf(values, place).type : ANY };
    }
  }

  function callOf(method: string, path: string, operation: Operation): Call {
    const { operationId: id, summary = '', description = summary, parameters = [], requestBody } = operation;
    const own = parameters.flatMap((each) => ('$ref' in each ? parameterAt(each.$ref) : [each]));
    const fieldsIn = (place: string): Field[] =>
      own
        .filter((each) => each.in === place)
        .map(({ name, required = false, description: about = '', schema }) => ({
          ...fieldOf(name, { ...schema, description: about }, !required),
          ...typeOf(schema, pascal(id) + pascal(name)),
        }));
    const query = fieldsIn('query');
    const queryName = `${pascal(id)}Query`;
    if (query.length > 0) {
      found.push({ name: queryName, isRequest: false, description: '', fields: query });
    }
    const body = jsonOf(requestBody);
    const answers = SUCCESSES.flatMap(
      (status) => jsonOf(operation.responses[status])?.properties?.data ?? [],
    );
    return {
      id,
      method,
      path,
      description,
      query: query.length > 0 ? { kind: 'named', name: queryName } : null,
      pathParameters: fieldsIn('path'),
      body: body === undefined ? null : typeOf(body, `${pascal(id)}Request`).type,
      data:
        answers.length > 0 ? unionOf(answers.map((each) => typeOf(each, `${pascal(id)}Data`).type)) : null,
    };
  }

  const parameterAt = (reference: string): Parameter[] => {
    const parameter = components.parameters?.[reference.split('/').at(-1) ?? ''];
    return parameter === undefined ? [] : [parameter];
  };

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const bodies = new Set(
    operations.map(({ operation }) => jsonOf(operation.requestBody)?.$ref?.split('/').at(-1)),
  );
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (isObject(schema)) add(name, schema, bodies.has(name));
    else {
      const { type: of, isNullable } = typeOf(schema, name);
      choicesFound.push({ name, description: schema.description ?? '', of, isNullable });
    }
  }
  found = ofCalls;
  const calls = operations.map(({ method, path, operation }) => callOf(method, path, operation));
  return { named, choices: choicesFound, calls, ofCalls };
}

const SUCCESSES = ['200', '201', '202'] as const;

const fieldOf = (name: string, schema: Schema, isOptional: boolean): Field => ({
  name,
  type: ANY,
  isNullable: false,
  isOptional,
  description: schema.description ?? '',
  default: schema.default,
  ...(schema.examples === undefined ? {} : { examples: schema.examples }),
});

/** What tells one object of a choice from the others: `Click` of an action with the type `click`. */
function variantOf({ properties = {} }: Schema): string {
  const [word] = [properties.type, properties.kind].flatMap((each) => each?.const ?? onlyOne(each?.enum));
  return typeof word === 'string' ? pascal(word) : '';
}

const onlyOne = (words: readonly unknown[] = []): readonly unknown[] => (words.length === 1 ? words : []);

const jsonOf = (content: Content | undefined): Schema | undefined =>
  content?.content?.['application/json']?.schema;

/** Choices between several types have no name of their own in the clients. */
const isObject = ({ properties }: Schema): boolean => properties !== undefined;

const ANY: Type = { kind: 'plain', name: 'any' };

function unionOf(types: readonly Type[]): Type {
  const different = [...new Map(types.map((type) => [JSON.stringify(type), type])).values()];
  const [only] = different;
  if (only === undefined) return ANY;
  return different.length === 1 ? only : { kind: 'union', of: different };
}

const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
