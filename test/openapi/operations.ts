/** What /openapi.json says of one operation. */
export interface Operation {
  /** Method and path, as in `POST /v1/scrape`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Scopes of which one is needed, or the kind of access; empty when no key is needed. */
  readonly access: readonly string[];
  /** Bodies that the document shows. */
  readonly examples: readonly object[];
  readonly hasBody: boolean;
}

interface Documented {
  readonly 'x-access': readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, DocumentedBody>> };
}

interface DocumentedBody {
  readonly example?: object;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
  readonly schema: DocumentedSchema;
}

interface DocumentedSchema {
  readonly examples?: readonly object[];
  readonly anyOf?: readonly DocumentedSchema[];
  readonly oneOf?: readonly DocumentedSchema[];
}

export function operationsOf(document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([key, value]): Operation => {
      const { 'x-access': access, requestBody } = value as Documented;
      const method = key.toUpperCase() as Operation['method'];
      const body = requestBody?.content['application/json'];
      return {
        name: `${method} ${path}`,
        method,
        path,
        access: access.filter((name) => name !== 'open'),
        examples: body === undefined ? [] : examplesOf(body),
        hasBody: body !== undefined,
      };
    }),
  );
}

function examplesOf({ example, examples = {}, schema }: DocumentedBody): readonly object[] {
  const shown = [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples).map(({ value }) => value),
  ];
  return [...shown, ...schemaExamples(schema)];
}

function schemaExamples({ examples = [], anyOf = [], oneOf = [] }: DocumentedSchema): readonly object[] {
  const inner = [...anyOf, ...oneOf].flatMap(schemaExamples);
  return [...examples, ...inner].filter((each) => typeof each === 'object' && each !== null);
}

/** Replaces the parameters of a path. */
export function pathWith(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? 'x'));
}
