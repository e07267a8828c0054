/** A JSON Schema as the OpenAPI document has it; only what the generator looks at is named. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

export interface Operation {
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly body: Schema | null;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, RawParameter>>;
  };
}

interface RawParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface RawOperation {
  readonly parameters?: readonly (RawParameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** Live events: their answer goes on for as long as the client listens. */
const isStream = ({ responses }: RawOperation): boolean =>
  responses?.['200']?.content?.['text/event-stream'] !== undefined;

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

export interface ApiDescription {
  readonly operations: readonly Operation[];
  /** The schema itself, where it is a reference to one of the document. */
  resolve(schema: Schema): Schema;
}

export function readOpenApi(document: unknown): ApiDescription {
  const { paths, components } = document as OpenApi;
  const schemas = components?.schemas ?? {};
  const parametersOf = ({ parameters = [] }: RawOperation): readonly RawParameter[] =>
    parameters.flatMap((each) =>
      '$ref' in each ? (components?.parameters?.[each.$ref.split('/').at(-1) ?? ''] ?? []) : [each],
    );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, raw]) => METHODS.includes(method) && !isStream(raw))
      .map(([method, raw]): Operation => {
        const content = raw.requestBody?.content;
        return {
          method: method.toUpperCase(),
          path,
          parameters: parametersOf(raw).flatMap(({ name, in: place, required, schema }) =>
            place === 'path' || place === 'query' || place === 'header'
              ? [{ name, in: place, required: required ?? false, schema: schema ?? {} }]
              : [],
          ),
          body: content === undefined ? null : (Object.values(content)[0]?.schema ?? {}),
        };
      }),
  );
  return {
    operations,
    resolve(schema) {
      const name = schema.$ref?.split('/').at(-1);
      return name === undefined ? schema : (schemas[name] ?? {});
    },
  };
}
