import type { Field, Named, Type } from './api-model.ts';

/**
 * TypedDicts for Python 3.10, which has no NotRequired: fields that may be missing stand in a class of their own. That of a
 * request has a name for callers, `ScrapeOptions` of `ScrapeRequest`: what a call takes besides what it needs.
 */
export function pythonTypes(model: readonly Named[]): string {
  return `${HEAD}${model.map(classOf).join('')}`;
}

const HEAD = `"""Types of requests and answers, made from the OpenAPI document by scripts/write-client-types.ts."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union
`;

const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const canBeAttribute = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name);

function classOf(named: Named): string {
  const { name, isRequest } = named;
  const reserved = named.fields.filter((field) => !canBeAttribute(field.name));
  const fields = named.fields.filter((field) => canBeAttribute(field.name));
  const needed = fields.filter(({ isOptional }) => !isOptional);
  const optional = fields.filter(({ isOptional }) => isOptional);
  const root = reserved.length === 0 ? 'TypedDict' : `_${name}Reserved`;
  const first = reserved.length === 0 ? '' : dictionaryOf(root, reserved);
  if (optional.length === 0) return first + written(name, root, needed);
  if (needed.length === 0) return first + written(name, `${root}, total=False`, optional);
  const base = isRequest ? name.replace(/Request$/, 'Options') : `_${name}`;
  return first + written(base, `${root}, total=False`, optional) + written(name, base, needed);
}

function written(name: string, bases: string, fields: readonly Field[]): string {
  const lines = fields.flatMap((field) => [
    ...(field.description === '' ? [] : [`    #: ${oneLine(field.description)}`]),
    `    ${field.name}: ${fieldType(field)}`,
  ]);
  return `\n\nclass ${name}(${bases}):\n${lines.length === 0 ? '    pass' : lines.join('\n')}\n`;
}

/** For fields whose names no class can have, such as `from`. */
function dictionaryOf(name: string, fields: readonly Field[]): string {
  const entries = fields.map((field) => `"${field.name}": ${JSON.stringify(fieldType(field))}`);
  return `\n\n${name} = TypedDict("${name}", {${entries.join(', ')}}, total=False)\n`;
}

const fieldType = ({ type, isNullable }: Field): string =>
  isNullable && textOf(type) !== 'Any' ? `${textOf(type)} | None` : textOf(type);

const PLAIN = {
  string: 'str',
  time: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  any: 'Any',
} as const;

function textOf(type: Type): string {
  switch (type.kind) {
    case 'named':
      return type.name;
    case 'choice':
      return textOf(type.of);
    case 'list':
      return `list[${textOf(type.of)}]`;
    case 'map':
      return `dict[str, ${textOf(type.of)}]`;
    case 'words':
      return `Literal[${type.words.map((word) => JSON.stringify(word)).join(', ')}]`;
    case 'union':
      return `Union[${type.of.map(textOf).join(', ')}]`;
    case 'plain':
      return PLAIN[type.name];
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
