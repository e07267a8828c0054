import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffJson, isSameJson, type PatchOperation } from './json-diff.ts';

/** RFC 6902, written after the standard and not after the code. */
function applyPatch(document: unknown, patch: readonly PatchOperation[]): unknown {
  const holder: { root: unknown } = { root: structuredClone(document) };
  for (const operation of patch) {
    const path = [
      'root',
      ...operation.path
        .split('/')
        .slice(1)
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
    ];
    const name = path.pop() ?? '';
    const target = path.reduce<unknown>(
      (value, part) => (value as Record<string, unknown>)[part],
      holder,
    ) as Record<string, unknown>;
    if (Array.isArray(target)) {
      const at = Number(name);
      if (operation.op === 'remove') target.splice(at, 1);
      else if (operation.op === 'add') target.splice(at, 0, operation.value);
      else target[at] = operation.value;
      continue;
    }
    const isThere = Object.hasOwn(target, name);
    if (operation.op !== 'add' && !isThere) throw new Error(`There is no ${operation.path}.`);
    if (operation.op === 'remove') delete target[name];
    else
      Object.defineProperty(target, name, {
        value: operation.value,
        configurable: true,
        enumerable: true,
        writable: true,
      });
  }
  return holder.root;
}

const key = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('a/b', 'm~n', '', '0', '~1'));
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, 1, 19, 91, 'a', 'b', ''),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(key, tie('json'), { maxKeys: 5 }),
  ),
}));

describe('a JSON Patch', () => {
  it('turns the earlier document into the later one', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const { patch } = diffJson(a, b);
        const result = applyPatch(a, JSON.parse(JSON.stringify(patch)) as PatchOperation[]);
        expect(isSameJson(result, b)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does so when it has too many operations, or the documents are too deep', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        for (const options of [{ operations: 2 }, { depth: 1 }]) {
          expect(isSameJson(applyPatch(a, diffJson(a, b, options).patch), b)).toBe(true);
        }
      }),
    );
  });

  it('is empty exactly when the documents are the same', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(diffJson(a, structuredClone(a)).patch).toEqual([]);
        expect(diffJson(a, b).patch.length === 0).toBe(isSameJson(a, b));
      }),
    );
  });

  it('changes single values where they stand', () => {
    const a = { price: 19, tags: ['x', 'y', 'z'], 'a/b': { 'm~n': 1 } };
    const b = { price: 91, tags: ['x', 'z'], 'a/b': { 'm~n': 2 }, extra: null };
    expect(diffJson(a, b).patch).toEqual([
      { op: 'replace', path: '/price', value: 91 },
      { op: 'remove', path: '/tags/1' },
      { op: 'replace', path: '/a~1b/m~0n', value: 2 },
      { op: 'add', path: '/extra', value: null },
    ]);
  });

  it('keeps to its limits on documents that nest without end', () => {
    const nest = (value: unknown) => {
      let inner = value;
      for (let level = 0; level < 20_000; level += 1) inner = [inner];
      return inner;
    };
    expect(diffJson(nest(1), nest(1)).patch).toEqual([]);
    expect(diffJson(nest(1), nest(2))).toMatchObject({ isCoarse: true, patch: [{ op: 'replace' }] });
  });

  it('does not follow names of prototypes', () => {
    const a: unknown = JSON.parse('{"__proto__": {"x": 1}}');
    const b: unknown = JSON.parse('{"__proto__": {"x": 2}, "constructor": 1}');
    expect(diffJson(a, b).patch).toEqual([
      { op: 'replace', path: '/__proto__/x', value: 2 },
      { op: 'add', path: '/constructor', value: 1 },
    ]);
  });
});
