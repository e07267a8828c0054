import { InvalidArgumentError } from 'commander';
import { defined } from '../../lib/defined.ts';

/** Signs of the command line and the operators of a query that they stand for; longer ones are tried first. */
const SIGNS: readonly (readonly [sign: string, op: string])[] = [
  ['!=', 'ne'],
  ['<=', 'lte'],
  ['>=', 'gte'],
  ['^=', 'startsWith'],
  ['$=', 'endsWith'],
  ['~=', 'icontains'],
  ['=', 'eq'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['~', 'contains'],
];

const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * One condition: `statusCode>=400`, `title~price`, `host=a.test,b.test` (one of them), `errorCode is null`,
 * `title is not null`. A value in double quotes is text as it stands. A whole condition in JSON is taken as it is.
 */
export function conditionOf(text: string): object {
  if (text.trimStart().startsWith('{')) return jsonCondition(text);
  const isNull = /^\s*(\S+)\s+is\s+(not\s+)?null\s*$/i.exec(text);
  if (isNull !== null) return { field: isNull[1], op: isNull[2] === undefined ? 'isNull' : 'isNotNull' };
  const name = /^\s*([\w.$@-]+?)\s*(?=[!<>^$~=])/.exec(text);
  const rest = name === null ? '' : text.slice(name[0].length);
  const found = SIGNS.find(([sign]) => rest.startsWith(sign));
  if (name === null || found === undefined) {
    const signs = SIGNS.map(([sign]) => sign).join(' ');
    throw new InvalidArgumentError(
      `A condition is FIELD SIGN VALUE, such as statusCode>=400. Signs: ${signs}`,
    );
  }
  const [sign, op] = found;
  const given = rest.slice(sign.length).trim();
  if (given.startsWith('"')) return { field: name[1], op, value: quotedText(given) };
  const list = given.split(',');
  if (list.length > 1 && (op === 'eq' || op === 'ne')) {
    return {
      field: name[1],
      op: op === 'eq' ? 'in' : 'notIn',
      value: list.map((each) => literalOf(each.trim())),
    };
  }
  return { field: name[1], op, value: literalOf(given) };
}

function literalOf(text: string): string | number | boolean {
  if (NUMBER.test(text)) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

function quotedText(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    throw new InvalidArgumentError('A value in double quotes is written as in JSON.');
  }
}

function jsonCondition(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw new InvalidArgumentError(`Not JSON: ${(error as Error).message}`);
  }
}

/** Reads a field to group by, such as `host` or `fetchedAt:day`. */
export function groupOf(text: string): string | object {
  const [field = '', by] = text.split(':', 2);
  return by === undefined ? field : { field, by };
}

/** `url`, `count`, `sum:bytes`, `sum:bytes=total` */
export function columnOf(text: string): string | object {
  const [what = '', as] = text.split('=', 2);
  const [fn = '', field] = what.split(':', 2);
  const named = as === undefined ? {} : { as };
  if (field === undefined && fn !== 'count') return as === undefined ? fn : { field: fn, as };
  return { fn, ...defined({ field }), ...named };
}
