import { compileExtractionRules } from '../../extract/rules/compile-rules.ts';
import { given } from './flags.ts';
import { readYamlFile, wrongFile, type YamlFile } from './yaml-file.ts';

/** The flags for extraction: types, rules and the language model. */
export interface ExtractFlags {
  readonly extract?: string;
  readonly rules?: string;
  readonly schema?: string;
  readonly llm?: true;
  readonly llmDerived?: string[];
}

export const EXTRACT_FLAGS = ['extract', 'rules', 'schema'] as const;
/** For commands that fetch: those that only read have no language model. */
export const LLM_FLAGS = ['llm', 'llmDerived'] as const;

/** Which flag a field of the request comes from; the first that fits counts. */
export const EXTRACT_FLAG_OF = {
  'extract.type': '--extract',
  'extract.rules': '--rules',
  'extract.schema': '--schema',
  'extract.llm.derived': '--llm-derived',
  'extract.llm': '--llm',
  extract: '--schema',
} as const;

/**
 * The field `extract` of a request; undefined when nothing of it is wanted. Throws INVALID_USAGE for files that cannot be
 * read and for rules that cannot be used, each problem with its file, line and place.
 */
export function extractFieldOf(cwd: string, flags: ExtractFlags): object | undefined {
  const { extract: type, rules: rulesFile, schema: schemaFile } = flags;
  const llm = llmFieldOf(flags);
  if ([type, rulesFile, schemaFile, llm].every((value) => value === undefined)) return undefined;
  const rules = rulesFile === undefined ? null : readYamlFile(cwd, rulesFile, '--rules');
  const schema = schemaFile === undefined ? null : readYamlFile(cwd, schemaFile, '--schema');
  if (rules !== null) refuseWrong(rules, schema);
  return given({ type, rules: rules?.value, schema: schema?.value, llm });
}

function llmFieldOf({ llm, llmDerived }: ExtractFlags): true | object | undefined {
  if (llmDerived === undefined) return llm;
  return { derived: llmDerived.includes('all') ? 'all' : llmDerived };
}

function refuseWrong(rules: YamlFile, schema: YamlFile | null): void {
  const { problems } = compileExtractionRules(rules.value, schema === null ? {} : { schema: schema.value });
  if (problems === null) return;
  const told = problems.map(({ path, column, message }) => {
    const [root, ...place] = path.split('.');
    const file = root === 'schema' && schema !== null ? schema : rules;
    const where = [`${file.path}:${file.lineOf(place)}`, place.join('.')];
    if (column !== undefined) where.push(`column ${column}`);
    return [...where.filter((part) => part !== ''), message].join(': ');
  });
  const isOfSchema = problems.every(({ path }) => path.split('.', 1)[0] === 'schema');
  throw wrongFile(isOfSchema ? '--schema' : '--rules', told.join(' '));
}
