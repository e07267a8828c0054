import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A block of Terraform as the parser gives it: arguments as values or as `${expression}`, nested blocks as lists. */
export type Block = Readonly<Record<string, unknown>>;

interface Parser {
  parse(file: string, text: string): Promise<Record<string, unknown>>;
  getReferencesInExpression(file: string, expression: string): Promise<readonly { readonly value: string }[]>;
}

/** The parser is that of Terraform itself, as WebAssembly. */
const openParser = (): Parser =>
  createRequire(new URL('./package.json', import.meta.url))('@cdktf/hcl2json') as Parser;

/** Names that begin a reference to something outside of the module's own resources. */
const BUILT_IN = ['each', 'self', 'count', 'path', 'terraform'];

export interface TerraformModule {
  readonly folder: string;
  /** `var.name`, `local.name`, `type.name`, `data.type.name` and `module.name` with their blocks. */
  readonly declared: ReadonlyMap<string, Block>;
  /** Every reference of an expression, in the same form, and where it stands. */
  readonly references: readonly { readonly to: string; readonly file: string }[];
}

/** Parses the files of one folder, which are one module. Throws where the parser refuses one. */
export async function readModule(folder: string): Promise<TerraformModule> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.tf'));
  const parser = openParser();
  const declared = new Map<string, Block>();
  const references: { to: string; file: string }[] = [];
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    const parsed = await parser.parse(file, text);
    // Within a dynamic block its label names the current element.
    const iterators = new Set([...text.matchAll(/^\s*dynamic "(\w+)"/gm)].map(([, label]) => label));
    for (const [name, block] of declarationsIn(parsed)) declared.set(name, block);
    for (const expression of expressionsIn(parsed)) {
      for (const { value } of await parser.getReferencesInExpression(file, expression)) {
        const to = iterators.has(value.split('.')[0]) ? null : addressOf(value);
        if (to !== null) references.push({ to, file });
      }
    }
  }
  return { folder, declared, references };
}

function* declarationsIn(parsed: Record<string, unknown>): Generator<readonly [string, Block]> {
  const groups = (kind: string) => Object.entries((parsed[kind] ?? {}) as Record<string, Block>);
  for (const [name, [block]] of groups('variable') as unknown as [string, [Block]][])
    yield [`var.${name}`, block];
  for (const [name, [block]] of groups('output') as unknown as [string, [Block]][])
    yield [`output.${name}`, block];
  for (const [name, [block]] of groups('module') as unknown as [string, [Block]][])
    yield [`module.${name}`, block];
  for (const [name, [block]] of groups('provider') as unknown as [string, [Block]][])
    yield [`provider.${name}`, block];
  for (const locals of (parsed.locals ?? []) as Block[]) {
    for (const [name, value] of Object.entries(locals)) yield [`local.${name}`, { value }];
  }
  for (const [kind, prefix] of [
    ['resource', ''],
    ['data', 'data.'],
  ] as const) {
    for (const [type, named] of groups(kind)) {
      for (const [name, [block]] of Object.entries(named) as [string, [Block]][])
        yield [`${prefix}${type}.${name}`, block];
    }
  }
}

/** Every text of a parsed file that has an expression in it. */
function* expressionsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (value.includes('${') || value.includes('%{')) yield value;
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key.includes('${')) yield key;
    yield* expressionsIn(part);
  }
}

/** The declaration that a reference such as `aws_vpc.this.id` names; null for single words, such as types, and built-in names. */
function addressOf(reference: string): string | null {
  const [first = '', second = '', third = ''] = reference.split(/[.[]/);
  if (second === '' || BUILT_IN.includes(first)) return null;
  return first === 'data' ? `data.${second}.${third}` : `${first}.${second}`;
}
