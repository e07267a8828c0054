import { LAKE_TABLES, type LakeRule, type LakeTable, type LakeView } from '../../../core/ports/lake-store.ts';
import { LAKE_COLUMNS, type LakeType } from '../../lake/lake-schema.ts';

const TYPES: Readonly<Record<LakeType, string>> = {
  text: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
};

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const list = (texts: readonly string[]) => texts.map(literal).join(', ');

export interface LakeViewSql {
  /** The statements, in the order in which they are run. */
  readonly statements: readonly string[];
  readonly names: readonly string[];
}

/**
 * Statements that make the views `pages`, `links` and `records` over these files, without the rows that are hidden.
 * `pathOf` says where a file lies on this machine. `hasPrivate`: pages that were fetched with stored credentials are shown.
 */
export function lakeViewsOf(
  { files, rules }: LakeView,
  pathOf: (path: string) => string,
  hasPrivate: boolean,
): LakeViewSql {
  const condition = conditionOf(
    rules.map((rule) => (rule.isPrivate && !hasPrivate ? { ...rule, keepFrom: null } : rule)),
    pathsOf('pages'),
  );
  function pathsOf(table: LakeTable): string[] {
    return files.filter((file) => file.table === table).map(({ path }) => pathOf(path));
  }
  const statements = LAKE_TABLES.map(
    (table) => `CREATE VIEW ${table} AS ${rowsOf(table, pathsOf(table))}${condition}`,
  );
  return { statements, names: [...LAKE_TABLES] };
}

/** Columns that no file has yet are null, and a table without files has no rows. */
function rowsOf(table: LakeTable, paths: readonly string[]): string {
  const names = LAKE_COLUMNS[table].map(({ name }) => `"${name}"`).join(', ');
  const typed = LAKE_COLUMNS[table].map(({ name, type }) => `NULL::${TYPES[type]} AS "${name}"`).join(', ');
  const none = `SELECT ${typed}, NULL::VARCHAR AS domain, NULL::DATE AS date WHERE false`;
  if (paths.length === 0) return `SELECT * FROM (${none})`;
  const files = `SELECT * FROM read_parquet([${list(paths)}], union_by_name = true, hive_partitioning = true,
    hive_types = {'domain': VARCHAR, 'date': DATE})`;
  return `SELECT ${names}, ${HOST_OF_DOMAIN} AS domain, date FROM (${none} UNION ALL BY NAME ${files})`;
}

/**
 * The host that the name of a partition stands for: of the bytes that are written otherwise there, hosts have these. It
 * is made of the partition alone, so that a condition on it still leaves out whole files.
 */
const HOST_OF_DOMAIN = [
  ['_3a', ':'],
  ['_5b', '['],
  ['_5d', ']'],
  // Last: what it stands for begins the others.
  ['_5f', '_'],
].reduce((sql, [written, sign]) => `replace(${sql}, '${written}', '${sign}')`, 'domain');

/** Which rows count, where jobs were deleted, have expired or were resumed. */
function conditionOf(rules: readonly LakeRule[], pageFiles: readonly string[]): string {
  const gone = rules.filter(({ keepFrom }) => keepFrom === null).map(({ jobId }) => jobId);
  const conditions = gone.length === 0 ? [] : [`job_id NOT IN (${list(gone)})`];
  for (const { jobId, keepFrom } of rules) {
    if (keepFrom !== null && keepFrom > 0)
      conditions.push(`(job_id <> ${literal(jobId)} OR page_seq >= ${keepFrom})`);
  }
  const resumed = rules.filter((rule) => rule.isResumed && rule.keepFrom !== null).map(({ jobId }) => jobId);
  if (resumed.length > 0 && pageFiles.length > 0) {
    const jobs = list(resumed);
    conditions.push(`(job_id NOT IN (${jobs}) OR page_seq IN (
      SELECT max(page_seq) FROM read_parquet([${list(pageFiles)}], union_by_name = true)
      WHERE job_id IN (${jobs}) GROUP BY job_id, task_id))`);
  }
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}
