/** Attempts to get out of the lake of an account, or to take more than a query may. */
export interface Escape {
  readonly name: string;
  readonly sql: string;
  /** The codes that are right; any other answer is an escape. */
  readonly codes: readonly string[];
}

/** Where the test has put what no query may read. */
export interface Forbidden {
  /** A Parquet file of another account in the same lake. */
  readonly otherFile: string;
  readonly otherFolder: string;
  /** A CSV file outside of the lake. */
  readonly csvFile: string;
  /** A file of the account itself: its rows are in the views, and file functions are refused all the same. */
  readonly ownFile: string;
  readonly newFile: string;
  readonly otherAccount: string;
}

const REFUSED = ['QUERY_REFUSED'];
/** Wrong for DuckDB's own parser, or for the check. */
const NO_QUERY = ['QUERY_REFUSED', 'QUERY_FAILED'];
const BOUNDED = ['QUERY_TOO_LARGE', 'QUERY_TIMEOUT', 'QUERY_FAILED'];

const DEEP = 3_000;

export function escapesOf(files: Forbidden): readonly Escape[] {
  const { otherFile, otherFolder, csvFile, ownFile, newFile, otherAccount } = files;
  const refused = (name: string, sql: string): Escape => ({ name, sql, codes: REFUSED });
  const noQuery = (name: string, sql: string): Escape => ({ name, sql, codes: NO_QUERY });
  const bounded = (name: string, sql: string): Escape => ({ name, sql, codes: BOUNDED });
  return [
    refused('a file of another account', `SELECT * FROM read_parquet('${otherFile}')`),
    refused('all files of another account', `SELECT * FROM read_parquet('${otherFolder}/**/*.parquet')`),
    refused('a file of the account itself', `SELECT * FROM read_parquet('${ownFile}')`),
    refused('another file by its name', `SELECT * FROM '${otherFile}'`),
    refused('another file by a quoted name', `SELECT * FROM "${otherFile}"`),
    refused('a CSV file by its name', `SELECT * FROM '${csvFile}'`),
    refused('/etc/passwd by its name', `SELECT * FROM '/etc/passwd'`),
    refused('read_csv', `SELECT * FROM read_csv('/etc/passwd', delim = ':')`),
    refused('read_csv_auto', `SELECT * FROM read_csv_auto('${csvFile}')`),
    refused('read_text', `SELECT * FROM read_text('/etc/passwd')`),
    refused('read_blob', `SELECT * FROM read_blob('/proc/self/environ')`),
    refused('read_json', `SELECT * FROM read_json('/etc/passwd')`),
    refused('read_ndjson_objects', `SELECT * FROM read_ndjson_objects('${csvFile}')`),
    refused('parquet_scan', `SELECT * FROM parquet_scan('${otherFile}')`),
    refused('parquet_metadata', `SELECT * FROM parquet_metadata('${otherFile}')`),
    refused('parquet_schema', `SELECT * FROM parquet_schema('${otherFile}')`),
    refused('parquet_kv_metadata', `SELECT * FROM parquet_kv_metadata('${otherFile}')`),
    refused('parquet_file_metadata', `SELECT * FROM parquet_file_metadata('${otherFile}')`),
    refused('glob', `SELECT * FROM glob('${otherFolder}/**')`),
    refused('sniff_csv', `SELECT * FROM sniff_csv('${csvFile}')`),
    refused('COPY to a file', `COPY (SELECT 1) TO '${newFile}'`),
    refused('COPY from a file', `COPY pages FROM '${csvFile}'`),
    refused('EXPORT DATABASE', `EXPORT DATABASE '${newFile}'`),
    refused('IMPORT DATABASE', `IMPORT DATABASE '${otherFolder}'`),
    refused('ATTACH', `ATTACH '${newFile}' AS other`),
    refused('DETACH', 'DETACH memory'),
    refused('USE', 'USE system'),
    refused('INSTALL', 'INSTALL httpfs'),
    refused('LOAD', 'LOAD httpfs'),
    refused('LOAD of a file', `LOAD '${csvFile}'`),
    refused('PRAGMA', 'PRAGMA database_list'),
    refused('PRAGMA in FROM', 'SELECT * FROM pragma_database_list()'),
    refused('pragma_table_info', `SELECT * FROM pragma_table_info('pages')`),
    refused('SET', "SET memory_limit = '100GB'"),
    refused('SET of external access', 'SET enable_external_access = true'),
    refused('RESET', 'RESET enable_external_access'),
    refused('SET VARIABLE', 'SET VARIABLE x = 1'),
    refused('current_setting', `SELECT current_setting('allowed_paths')`),
    refused('getenv', `SELECT getenv('PATH')`),
    refused('getvariable', `SELECT getvariable('x')`),
    refused('duckdb_secrets()', 'SELECT * FROM duckdb_secrets()'),
    refused('duckdb_settings()', 'SELECT * FROM duckdb_settings()'),
    refused('duckdb_views()', 'SELECT sql FROM duckdb_views()'),
    refused('duckdb_tables', 'SELECT * FROM duckdb_tables'),
    refused('CREATE SECRET', `CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET 'y')`),
    refused('information_schema', 'SELECT * FROM information_schema.tables'),
    refused('pg_catalog', 'SELECT * FROM pg_catalog.pg_class'),
    refused('sqlite_master', 'SELECT * FROM sqlite_master'),
    refused('a view with its database', 'SELECT * FROM memory.main.pages'),
    refused('a schema of another account', `SELECT * FROM "${otherAccount}".pages`),
    refused('query()', `SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')`),
    refused('query_table()', `SELECT * FROM query_table(['${otherFile}'])`),
    refused('SQL from a string', `SELECT * FROM json_execute_serialized_sql('{}')`),
    refused('PRAGMA with SQL', `PRAGMA json_execute_serialized_sql('{}')`),
    refused('PREPARE', 'PREPARE x AS SELECT 1'),
    refused('EXECUTE', 'EXECUTE x'),
    refused('parameters', 'SELECT * FROM pages WHERE url = $1'),
    refused('question marks', 'SELECT ?'),
    refused('INSERT', `INSERT INTO pages VALUES (1)`),
    refused('DELETE', 'DELETE FROM pages'),
    refused('UPDATE', `UPDATE pages SET url = 'x'`),
    refused('CREATE TABLE', 'CREATE TABLE t AS SELECT 1'),
    refused('CREATE TEMP TABLE', 'CREATE TEMP TABLE t AS SELECT * FROM pages'),
    refused('CREATE VIEW', `CREATE OR REPLACE VIEW pages AS SELECT * FROM read_text('/etc/passwd')`),
    refused('CREATE MACRO', `CREATE MACRO f(x) AS TABLE SELECT * FROM read_text(x)`),
    refused('DROP', 'DROP VIEW pages'),
    refused('CALL', `CALL pragma_version()`),
    refused('EXPLAIN ANALYZE', `EXPLAIN ANALYZE SELECT * FROM read_text('/etc/passwd')`),
    refused('CHECKPOINT', 'CHECKPOINT'),
    refused('VACUUM', 'VACUUM'),
    refused('BEGIN', 'BEGIN TRANSACTION'),
    refused('two statements', 'SELECT 1; SELECT 2'),
    refused('a statement behind a comment', `SELECT 1; -- \nCOPY (SELECT 1) TO '${newFile}'`),
    refused('a comment in a name', `SELECT * FROM read_/**/text('/etc/passwd')`.replace('/**/', '')),
    refused('comments between the words', `SELECT/**/*/**/FROM/**/read_text/**/('/etc/passwd')`),
    refused('capital letters', `SELECT * FROM READ_TEXT('/etc/passwd')`),
    refused('a quoted function', `SELECT * FROM "read_text"('/etc/passwd')`),
    refused('a function with its schema', `SELECT * FROM main.read_text('/etc/passwd')`),
    refused('a function with its database', `SELECT * FROM system.main.read_text('/etc/passwd')`),
    noQuery('letters of full width', `SELECT * FROM ｒｅａｄ＿ｔｅｘｔ('/etc/passwd')`),
    noQuery('a Unicode escape', `SELECT * FROM U&"read\\005ftext"('/etc/passwd')`),
    noQuery('a space without width', `SELECT * FROM read_text\u200b('/etc/passwd')`),
    refused('a string in dollars', `SELECT * FROM read_text($$/etc/passwd$$)`),
    refused('a file in a subquery', `SELECT (SELECT content FROM read_text('/etc/passwd'))`),
    refused('a file in WITH', `WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x`),
    refused('a file in a join', `SELECT * FROM pages JOIN read_text('/etc/passwd') ON true`),
    refused(
      'a file in a lateral join',
      `SELECT * FROM pages, LATERAL (SELECT * FROM read_text('/etc/passwd'))`,
    ),
    refused('a file in EXISTS', `SELECT 1 WHERE EXISTS (FROM read_text('/etc/passwd'))`),
    refused(
      'a file in a union',
      `SELECT url FROM pages UNION ALL SELECT content FROM read_text('/etc/passwd')`,
    ),
    refused('FROM without SELECT', `FROM '/etc/passwd'`),
    refused('PIVOT of a file', `PIVOT '${csvFile}' ON a USING count(*)`),
    refused('DESCRIBE of a file', `DESCRIBE SELECT * FROM '${csvFile}'`),
    refused('SUMMARIZE of a file', `SUMMARIZE SELECT * FROM '${csvFile}'`),
    refused('SHOW', 'SHOW ALL TABLES'),
    refused('a name of a file in WITH', `WITH "${csvFile}" AS (SELECT 1) SELECT * FROM "${csvFile}"`),
    refused(
      'a name of the system in WITH',
      `SELECT * FROM duckdb_settings, (WITH duckdb_settings AS (SELECT 1) SELECT * FROM duckdb_settings)`,
    ),
    refused('a URL of the web', `SELECT * FROM 'https://example.com/x.parquet'`),
    refused('a URL of S3', `SELECT * FROM read_parquet('s3://bucket/x.parquet')`),
    refused('a URL of httpfs', `SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')`),
    refused('an extension that loads itself', `SELECT * FROM sqlite_scan('x.db', 'y')`),
    refused('an extension of PostgreSQL', `SELECT * FROM postgres_query('host=127.0.0.1', 'SELECT 1')`),
    refused('which_secret', `SELECT * FROM which_secret('s3://x', 's3')`),
    refused('the log of DuckDB', 'SELECT * FROM duckdb_logs'),
    refused('write_log', `SELECT write_log('x')`),
    refused('the statistics of a column', 'SELECT stats(url) FROM pages'),
    refused('the statistics with a schema', 'SELECT main.stats(url) FROM pages'),
    refused('the version of DuckDB', 'SELECT version()'),
    refused('a wait', 'SELECT sleep_ms(1000)'),
    refused('a function that is not known', 'SELECT a_function_of_a_later_version(url) FROM pages'),
    refused('a table macro', `SELECT * FROM histogram('pages', 'bytes')`),
    refused('a summary of a table', 'SELECT * FROM summary((SELECT url FROM pages))'),
    refused('a scan of a table', `SELECT * FROM seq_scan('pages')`),
    refused('temporary files', 'SELECT * FROM duckdb_temporary_files()'),
    refused('the memory of DuckDB', 'SELECT * FROM duckdb_memory()'),
    noQuery('no statement', '-- nothing'),
    noQuery('no SQL', 'passwd, please'),
    noQuery('a NUL', 'SELECT 1\u0000; DROP VIEW pages'),
    noQuery('deep nesting', `SELECT ${'abs('.repeat(DEEP)}1${')'.repeat(DEEP)}`),
    bounded('a huge join', 'SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c'),
    bounded('a huge range', 'SELECT sum(range * random()) FROM range(1000000000000)'),
    bounded('a huge list', 'SELECT len(range(100000000000))'),
    bounded('a huge string', `SELECT length(repeat('x', 1000000000) || repeat('y', 1000000000))`),
    bounded('a string that grows', `SELECT length(repeat(repeat(repeat('x', 100000), 100000), 10))`),
    bounded('a huge aggregate', `SELECT length(string_agg(repeat('x', 1000), '')) FROM range(100000000)`),
    bounded(
      'a recursion without end',
      'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t',
    ),
    bounded(
      'a recursion that doubles',
      `WITH RECURSIVE t AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM t) SELECT max(length(s)) FROM t`,
    ),
    bounded(
      'a sort of everything',
      'SELECT * FROM range(500000000) ORDER BY hash(range) DESC LIMIT 1 OFFSET 400000000',
    ),
    bounded(
      'many groups',
      'SELECT count(*) FROM (SELECT range % 100000000 AS g FROM range(1000000000) GROUP BY g)',
    ),
    bounded('lists in lists', 'SELECT len(list_transform(range(100000000), x -> range(x)))'),
  ];
}
