import { ALLOWED_FUNCTIONS } from './allowed-functions.ts';

/**
 * Says whether a query may run, from the syntax tree that DuckDB's own parser gives for it (`json_serialize_sql`), so that
 * no trick with comments, quotes or letters can make the two disagree about what was written. It is the first of several
 * fences: the database that runs the query cannot reach other files, other databases or the network either.
 *
 * Allowed are SELECTs over the views and the names that the query itself defines. Of table functions, and of everything
 * else that can stand in FROM, those that are named here are allowed; of other functions, those of `ALLOWED_FUNCTIONS`.
 */
export interface Refusal {
  /** The name or kind of statement that is not allowed, for the message. */
  readonly what: string;
}

const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'range',
  'generate_series',
  'unnest',
  'generate_subscripts',
  'json_each',
  'json_tree',
]);

/** What can stand in FROM. */
const TABLE_REFS: ReadonlySet<string> = new Set([
  'BASE_TABLE',
  'SUBQUERY',
  'JOIN',
  'TABLE_FUNCTION',
  'EMPTY',
  'EMPTY_FROM',
  'EXPRESSION_LIST',
]);

/** Names of system views and tables, which a query must not take for its own either. */
const SYSTEM_NAMES = /^(?:duckdb_|pg_|sqlite_|pragma_|information_schema$|__)/;
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;

type Node = Readonly<Record<string, unknown>>;

/** The tree is `json_serialize_sql`'s answer. Returns null when the query may run. */
export function refusalOf(tree: unknown, views: ReadonlySet<string>): Refusal | null {
  if (!isNode(tree)) return { what: 'what was written, because it cannot be read' };
  const statements = tree.statements;
  if (!Array.isArray(statements) || statements.length !== 1) {
    return { what: 'anything but one statement' };
  }
  const names = new Set(views);
  const wrongName = addOwnNames(tree, names);
  if (wrongName !== null) return { what: `the name ${quoted(wrongName)} for a part of a query` };
  return check(statements[0], names, 0);
}

/** No honest query nests as deep. */
const MOST_DEPTH = 400;

function check(node: unknown, names: ReadonlySet<string>, depth: number): Refusal | null {
  if (depth > MOST_DEPTH) return { what: 'a query that nests this deep' };
  if (Array.isArray(node)) {
    for (const each of node) {
      const found = check(each, names, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isNode(node)) return null;
  const refused = refusalOfNode(node, names);
  if (refused !== null) return refused;
  for (const each of Object.values(node)) {
    const found = check(each, names, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function refusalOfNode(node: Node, names: ReadonlySet<string>): Refusal | null {
  if (node.class === 'PARAMETER' || node.type === 'VALUE_PARAMETER') return { what: 'a parameter' };
  if (isTableRef(node)) {
    if (!TABLE_REFS.has(String(node.type))) return { what: `${String(node.type).toLowerCase()} in FROM` };
    if (node.type === 'BASE_TABLE') return refusalOfTable(node, names);
    if (node.type === 'TABLE_FUNCTION') return refusalOfTableFunction(node);
  }
  if (typeof node.function_name !== 'string') return null;
  const name = node.function_name.toLowerCase();
  const isQualified = [node.schema, node.catalog].some(
    (part) => part !== '' && part !== undefined && part !== 'main',
  );
  // Reached for table functions as well, which have been checked by then.
  const isAllowed = ALLOWED_FUNCTIONS.has(name) || TABLE_FUNCTIONS.has(name);
  return isQualified || !isAllowed ? { what: `the function ${quoted(name)}` } : null;
}

function refusalOfTable(node: Node, names: ReadonlySet<string>): Refusal | null {
  const table = String(node.table_name);
  const isQualified = [node.schema_name, node.catalog_name].some((part) => part !== '' && part !== undefined);
  if (isQualified || !names.has(table.toLowerCase()) || node.at_clause != null) {
    const full = [node.catalog_name, node.schema_name, table].filter((part) => part !== '' && part != null);
    return { what: `the table ${quoted(full.join('.'))}` };
  }
  return null;
}

function refusalOfTableFunction(node: Node): Refusal | null {
  const call = node.function;
  const name = isNode(call) ? String(call.function_name).toLowerCase() : '';
  return TABLE_FUNCTIONS.has(name) ? null : { what: `the table function ${quoted(name)}` };
}

/** Nodes of FROM have an alias and a sample, and no class, which expressions have. */
const isTableRef = (node: Node): boolean =>
  typeof node.type === 'string' && node.class === undefined && 'sample' in node && 'alias' in node;

/**
 * Names that WITH defines. They are allowed in the whole query, also where they are not defined; so a name that means
 * something by itself, or that could be read as a file, is none of them. Returns such a name.
 */
function addOwnNames(node: unknown, names: Set<string>, depth = 0): string | null {
  if (depth > MOST_DEPTH || typeof node !== 'object' || node === null) return null;
  if (isNode(node) && isNode(node.cte_map) && Array.isArray(node.cte_map.map)) {
    for (const entry of node.cte_map.map as unknown[]) {
      const name = isNode(entry) ? String(entry.key).toLowerCase() : '';
      if (!PLAIN_NAME.test(name) || SYSTEM_NAMES.test(name)) return name;
      names.add(name);
    }
  }
  for (const each of Array.isArray(node) ? node : Object.values(node)) {
    const wrong = addOwnNames(each, names, depth + 1);
    if (wrong !== null) return wrong;
  }
  return null;
}

const MOST_QUOTED = 100;
const quoted = (name: string) => `"${name.length > MOST_QUOTED ? `${name.slice(0, MOST_QUOTED)}…` : name}"`;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
