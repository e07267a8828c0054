import type { Call, Choice, Field, Model, Named, Type } from './api-model.ts';

/** Interfaces for TypeScript, under the names that editors then show, and what each operation takes and gives. */
export function typescriptTypes({ named, choices, calls, ofCalls }: Model): string {
  const blocks = [
    ...named.map((each) => interfaceOf(each, baseOf(each, named))),
    ...ofCalls.map((each) => interfaceOf(each)),
    ...choices.map(choiceOf),
    `/** What each operation takes and gives, by its id. */\nexport interface Operations {\n${calls.map(callOf).join('')}}\n`,
    `/** The operations by path and method. */\nexport interface Paths {\n${pathsOf(calls)}}\n`,
  ];
  return [HEAD, ...blocks].join('\n');
}

const HEAD = '// Made from the OpenAPI document by scripts/write-client-types.ts.\n';

function interfaceOf({ name, description, fields }: Named, base: Named | null = null): string {
  const inherited = new Set(base?.fields.map(identityOf));
  const own = fields.filter((field) => !inherited.has(identityOf(field)));
  const head = base === null ? name : `${name} extends ${base.name}`;
  return `${comment('', description)}export interface ${head} {\n${fieldLines('  ', own)}}\n`;
}

/** Objects with fewer fields are alike by chance. */
const LEAST_SHARED = 5;
const identityOf = (field: Field): string => JSON.stringify(field);

/** The largest other object whose fields this one has, all of them and as they are there: `CrawlRequest` of `ScheduledCrawl`. */
function baseOf({ fields }: Named, all: readonly Named[]): Named | null {
  const own = new Set(fields.map(identityOf));
  const [largest = null] = all
    .filter((each) => each.fields.length >= LEAST_SHARED && each.fields.length < fields.length)
    .filter((each) => each.fields.every((field) => own.has(identityOf(field))))
    .toSorted((one, other) => other.fields.length - one.fields.length);
  return largest;
}

const choiceOf = ({ name, description, of, isNullable }: Choice): string =>
  `${comment('', description)}export type ${name} = ${nullable(of, isNullable)};\n`;

function callOf({ id, description, query, pathParameters, body, data }: Call): string {
  const path = pathParameters.map((field) => `${keyOf(field.name)}: ${fieldType(field)}`);
  const parts = [
    ...(path.length > 0 ? [`path: { ${path.join('; ')} }`] : []),
    ...(query === null ? [] : [`query: ${textOf(query)}`]),
    ...(body === null ? [] : [`body: ${textOf(body)}`]),
    ...(data === null ? [] : [`data: ${textOf(data)}`]),
  ];
  return `${comment('  ', description)}  ${id}: {\n${parts.map((part) => `    ${part};\n`).join('')}  };\n`;
}

function pathsOf(calls: readonly Call[]): string {
  const byPath = Map.groupBy(calls, ({ path }) => path);
  return [...byPath]
    .map(([path, methods]) => {
      const each = methods.map(({ method, id }) => `${method}: Operations['${id}']`);
      return `  '${path}': { ${each.join('; ')} };\n`;
    })
    .join('');
}

const fieldLines = (indent: string, fields: readonly Field[]): string =>
  fields
    .map((field) => {
      const mark = field.isOptional ? '?' : '';
      const tags = [
        ...(field.default === undefined ? [] : [`@default ${JSON.stringify(field.default)}`]),
        ...(field.examples ?? []).map((example) => `@example ${JSON.stringify(example)}`),
      ];
      const about = comment(indent, field.description, tags);
      return `${about}${indent}${keyOf(field.name)}${mark}: ${fieldType(field)};\n`;
    })
    .join('');

const fieldType = ({ type, isNullable }: Field): string => nullable(type, isNullable);

const nullable = (type: Type, isNullable: boolean): string =>
  isNullable && textOf(type) !== 'unknown' ? `${textOf(type)} | null` : textOf(type);

const PLAIN = {
  string: 'string',
  time: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  any: 'unknown',
} as const;

function textOf(type: Type): string {
  switch (type.kind) {
    case 'named':
    case 'choice':
      return type.name;
    case 'list': {
      const text = textOf(type.of);
      return text.includes(' | ') ? `(${text})[]` : `${text}[]`;
    }
    case 'map':
      return `Record<string, ${textOf(type.of)}>`;
    case 'words':
      return type.words.map((word) => `'${word}'`).join(' | ');
    case 'union':
      return [...new Set(type.of.map(textOf))].join(' | ');
    case 'plain':
      return PLAIN[type.name];
  }
}

const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function comment(indent: string, description: string, tags: readonly string[] = []): string {
  const lines = [...(description === '' ? [] : [oneLine(description)]), ...tags].map((line) =>
    line.replaceAll('*/', '*\\/'),
  );
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
