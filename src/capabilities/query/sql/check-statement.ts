/**
 * Says whether a query may run, from the syntax tree that DuckDB's own parser gives for it (`json_serialize_sql`), so that
 * no trick with comments, quotes or letters can make the two disagree about what was written. It is the first of several
 * fences: the database that runs the query cannot reach other files, other databases or the network either.
 *
 * Allowed are SELECTs over the views and the names that the query itself defines. Of table functions, and of everything
 * else that can stand in FROM, those that are named here are allowed; of other functions, those of `ALLOWED_FUNCTIONS`.
 */
interface Refusal {
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

/** Also those that the parser makes of words, such as LIKE and IN. */
const OPERATORS = `
  !__postfix !~~ !~~* % & && * ** + - ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~
`;

/** Functions of numbers and bits, and of values of any type. */
const NUMBERS = `
  abs acos acosh add asin asinh atan atan2 atanh bit_count bit_position bitstring cbrt ceil ceiling cos cosh cot
  degrees divide equi_width_bins even exp factorial fdiv floor fmod gamma gcd geomean geometric_mean get_bit
  greatest greatest_common_divisor hash isfinite isinf isnan lcm least least_common_multiple lgamma ln log log10
  log2 mod multiply nextafter nullif pi pow power radians random round round_even roundbankers set_bit sign
  signbit sin sinh sqrt subtract tan tanh trunc wavg weighted_avg xor
`;

/** Functions of dates, times and intervals. */
const TIMES = `
  age ago century current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub
  date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade
  epoch epoch_ms epoch_ns epoch_us era get_current_time get_current_timestamp hour isodow isoyear julian last_day
  make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium
  millisecond minute month monthname nanosecond normalized_interval now quarter second strftime strptime time_bucket timezone
  timezone_hour timezone_minute to_centuries to_days to_decades to_hours to_microseconds to_millennia
  to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
  transaction_timestamp try_strptime week weekday weekofyear year yearweek
`;

/** Functions of texts and bytes. */
const TEXTS = `
  alias ascii base64 bin bit_length char_length character_length chr concat concat_ws damerau_levenshtein decode
  editdist3 encode ends_with format format_bytes formatreadabledecimalsize formatreadablesize from_base64
  from_binary from_hex gen_random_uuid hamming hex ilike_escape instr jaccard jaro_similarity
  jaro_winkler_similarity lcase left left_grapheme length_grapheme levenshtein like_escape lower lpad ltrim md5
  md5_number md5_number_lower md5_number_upper mismatches nfc_normalize not_ilike_escape
  not_like_escape octet_length ord parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path
  position prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches
  regexp_replace regexp_split_to_array regexp_split_to_table repeat replace reverse right right_grapheme rpad
  rtrim sha1 sha256 split split_part starts_with str_split str_split_regex string_split string_split_regex
  string_to_array strip_accents strlen strpos substr substring substring_grapheme suffix to_base to_base64
  to_binary to_hex translate trim typeof ucase unbin unhex unicode upper url_decode url_encode uuid
  uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
`;

/** Functions of lists, maps, structs and unions. */
const NESTED = `
  apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
  array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct
  array_dot_product array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof
  array_inner_product array_intersect array_length array_negative_dot_product array_negative_inner_product
  array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front array_reduce
  array_resize array_reverse array_reverse_sort array_select array_slice array_sort array_to_string
  array_to_string_comma_default array_transform array_unique array_value array_where array_zip cardinality
  contains element_at enum_code enum_first enum_last enum_range enum_range_boundary filter flatten generate_series
  generate_subscripts grade_up len length list_aggr list_aggregate list_any_value list_append list_apply
  list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat
  list_concat list_contains list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
  list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up list_has
  list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
  list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode list_negative_dot_product
  list_negative_inner_product list_pack list_position list_prepend list_product list_reduce list_resize
  list_reverse list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop
  list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp
  list_where list_zip map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
  map_extract_value map_from_entries map_keys map_values range reduce row struct_concat struct_contains
  struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack struct_position
  struct_update struct_values union_extract union_tag union_value unnest variant_extract variant_typeof
`;

/** Functions of JSON values. */
const JSON_VALUES = `
  array_to_json from_json from_json_strict json json_array json_array_length json_contains json_exists
  json_extract json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object
  json_group_structure json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform
  json_transform_strict json_type json_valid json_value row_to_json to_json
`;

/** Functions of many rows, with those of windows. */
const AGGREGATES = `
  any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last
  arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg
  bool_and bool_or corr count count_if count_star countif covar_pop covar_samp cume_dist dense_rank entropy favg
  fill first first_value fsum group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop lag last
  last_value lead list listagg mad max max_by mean median min min_by mode nth_value ntile percent_rank product
  quantile quantile_cont quantile_disc rank rank_dense regr_avgx regr_avgy regr_count regr_intercept regr_r2
  regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile row_number sem skewness stddev stddev_pop stddev_samp
  string_agg sum sum_no_overflow sumkahan var_pop var_samp variance
`;

/**
 * The functions that a query may call, by the names that DuckDB's parser gives them: they make a value of the values that
 * they are given, and of nothing else. What tells of files, settings, the catalog, the session or of the statistics of a
 * column (which count rows that a view hides), waits, or runs text as SQL is not among them; neither is anything that a later
 * version of DuckDB brings.
 In small letters.
 */
const ALLOWED_FUNCTIONS: ReadonlySet<string> = new Set(
  [OPERATORS, NUMBERS, TIMES, TEXTS, NESTED, JSON_VALUES, AGGREGATES].flatMap((names) =>
    names.trim().split(/\s+/),
  ),
);

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
