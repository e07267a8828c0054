/** What the types of clients are made from: the schemas of the OpenAPI document, as far as it uses JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly description?: string;
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
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export type Type =
  | { readonly kind: 'named'; readonly name: string }
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
}

/** An object with known fields. */
export interface Named {
  readonly name: string;
  /** The body of a request, and not a part of one or of an answer. */
  readonly isRequest: boolean;
  readonly description: string;
  readonly fields: readonly Field[];
}

/** Answers that clients get and that are no component. */
const ANSWERS: Readonly<Record<string, string>> = { getAccount: 'OwnAccount' };

/** Every named object of the document: components under their names, inner objects under the names of their places. */
export function modelOf({ components, paths }: OpenApiDocument): readonly Named[] {
  const found: Named[] = [];
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
      const isOptional = !required.includes(field);
      fields.push({ name: field, type, isNullable, isOptional, description: inner.description ?? '' });
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
      const types = choices.filter((each) => !isNull(each)).map((each) => typeOf(each, place));
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
      return isObject(target) ? { kind: 'named', name } : typeOf(target, name).type;
    }

    function objectType(of: Schema): Type {
      if (of.properties !== undefined && Object.keys(of.properties).length > 0) {
        return { kind: 'named', name: nameFor(place, of) };
      }
      const values = of.additionalProperties;
      return { kind: 'map', of: typeof values === 'object' ? typeOf(values, place).type : ANY };
    }
  }

  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const bodies = new Set(operations.map(({ requestBody }) => jsonOf(requestBody)?.$ref?.split('/').at(-1)));
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (isObject(schema)) add(name, schema, bodies.has(name));
  }
  const operationNamed = (id: string) => operations.find(({ operationId }) => operationId === id);
  for (const [id, name] of Object.entries(ANSWERS)) {
    const data = jsonOf(operationNamed(id)?.responses['200'])?.properties?.data;
    if (data === undefined) throw new Error(`${id} has no answer.`);
    add(name, data);
  }
  return found;
}

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
