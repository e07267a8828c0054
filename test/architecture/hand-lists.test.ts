import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';
import { ROLES } from '../../src/core/config/settings.ts';
import { AUDIT_ACTIONS } from '../../src/core/model/audit-actions.ts';
import { EVENTS } from '../../src/core/model/event-types.ts';
import { EXPORT_FORMATS, EXPORT_TYPES } from '../../src/core/model/export-registry.ts';
import { JOB_STATUSES } from '../../src/core/model/job.ts';
import { JOB_KINDS } from '../../src/core/model/job-kinds.ts';
import { REASON_NAMES } from '../../src/core/model/reasons.ts';
import { TASK_STATES } from '../../src/core/model/task.ts';
import { CALL_NAMES } from '../../src/core/ports/queue.ts';
import { WEBHOOK_FORMATS } from '../../src/core/ports/webhook-store.ts';
import { VALUE_TYPES } from '../../src/extract/rules/rule-schema.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Words that are declared once, with the file that declares them; where a few of them stand in a list, that list is a choice. */
const DECLARED: readonly { readonly words: readonly string[]; readonly in: string; readonly few: number }[] =
  [
    { words: JOB_KINDS, in: 'src/core/model/job-kinds.ts', few: 2 },
    { words: JOB_STATUSES, in: 'src/core/model/job.ts', few: 2 },
    { words: TASK_STATES, in: 'src/core/model/task.ts', few: 4 },
    { words: Object.keys(EVENTS), in: 'src/core/model/event-types.ts', few: 4 },
    { words: Object.keys(AUDIT_ACTIONS), in: 'src/core/model/audit-actions.ts', few: 3 },
    { words: REASON_NAMES, in: 'src/core/model/task-reasons.ts', few: 2 },
    { words: EXPORT_FORMATS, in: 'src/core/model/export-registry.ts', few: 3 },
    { words: EXPORT_TYPES, in: 'src/core/model/export-registry.ts', few: 3 },
    { words: VALUE_TYPES, in: 'src/extract/rules/rule-schema.ts', few: 5 },
    { words: WEBHOOK_FORMATS, in: 'src/core/ports/webhook-store.ts', few: 5 },
    { words: ROLES, in: 'src/core/config/settings.ts', few: 2 },
    { words: CALL_NAMES, in: 'src/core/ports/queue.ts', few: 1 },
  ];

/** Lists that are no copy of a declaration. */
const OWN_LISTS: Readonly<Record<string, string>> = {
  'src/cli/program.ts': 'commands below their headings',
  'dashboard/src/api/choices.ts': 'written from the declarations',
};

interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly elements?: readonly (Node | null)[];
  readonly properties?: readonly Node[];
  readonly key?: Node & { readonly name?: string };
  readonly id?: { readonly typeAnnotation?: { readonly start: number; readonly end: number } | null };
  readonly init?: Node | null;
}

/** The type of an object whose keys the compiler does not compare with a declaration. */
const ANY_KEY = /\bRecord<string,/;

/**
 * The lists of texts in a program: arrays, of an array of arrays the first text of each, and the keys of objects that may have any
 * key. The compiler compares the keys of all other objects.
 */
function* listsIn(path: string, text: string): Generator<string[]> {
  const waiting: unknown[] = [parseSync(path, text).program];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) waiting.push(...next);
    else if (typeof next === 'object' && next !== null) {
      const { type, elements = [] } = next as Node;
      if (type === 'ArrayExpression') {
        const firsts = elements.map((each) => (each?.type === 'ArrayExpression' ? each.elements?.[0] : each));
        yield firsts.flatMap((each) => (typeof each?.value === 'string' ? [each.value] : []));
      }
      if (type === 'VariableDeclarator') yield anyKeysOf(next as Node, text);
      waiting.push(...Object.values(next));
    }
  }
}

function anyKeysOf({ id, init }: Node, text: string): string[] {
  const { start = 0, end = 0 } = id?.typeAnnotation ?? {};
  if (init?.type !== 'ObjectExpression' || !ANY_KEY.test(text.slice(start, end))) return [];
  return (init.properties ?? []).flatMap(({ key }) => {
    const name = key?.name ?? key?.value;
    return typeof name === 'string' ? [name] : [];
  });
}

it('lists are found as arrays and as keys of objects that may have any key', () => {
  const lists = (text: string) => [...listsIn('x.ts', text)].filter((list) => list.length > 0);
  expect(lists("const a = ['b', 'c'];")).toEqual([['b', 'c']]);
  expect(lists("const a = [['b', 1], ['c', 2]];")).toContainEqual(['b', 'c']);
  expect(lists("const a: Readonly<Record<string, number>> = { b: 1, 'c.d': 2 };")).toEqual([['b', 'c.d']]);
  expect(lists('const a: Record<Told, number> = { b: 1, c: 2 };')).toEqual([]);
  expect(lists('const a: Record<string, number> = { b: 1 } satisfies Record<Told, number>;')).toEqual([]);
});

it('words that are declared once are listed nowhere else by hand', () => {
  const copies = ['src', 'dashboard/src']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => /\.tsx?$/.test(entry.name) && !/\.(?:test|fixture)\.tsx?$/.test(entry.name))
        .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/')),
    )
    .filter((path) => !(path in OWN_LISTS))
    .flatMap((path) =>
      [...listsIn(path, readFileSync(join(ROOT, path), 'utf8'))].map((list) => ({ path, list })),
    )
    .flatMap(({ path, list }) =>
      DECLARED.filter(({ words, in: declared, few }) => {
        const known = list.filter((word) => words.includes(word)).length;
        return path !== declared && known > few && known > list.length / 2;
      }).map(({ in: declared }) => `${path} repeats words of ${declared}: ${list.join(' ')}`),
    );
  expect(copies).toEqual([]);
});
