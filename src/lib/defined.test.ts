import { expect, test } from 'vitest';
import { defined } from './defined.ts';

interface Address {
  readonly host: string;
  readonly port?: number;
  readonly path?: string;
}

test('keys with a value are kept, in their order, and others are missing', () => {
  const port: number | undefined = undefined;
  const address: Address = { host: 'a.test', ...defined({ port, path: '/' as string | undefined }) };
  expect(address).toStrictEqual({ host: 'a.test', path: '/' });
  expect(Object.keys(defined({ b: 1, a: undefined, c: null, d: false, e: 0 }))).toEqual(['b', 'c', 'd', 'e']);
});
