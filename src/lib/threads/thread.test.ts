import { expect, it } from 'vitest';
import { siblingModule } from './thread.ts';

it('names the module as it lies on disk: sources beside sources, compiled files beside compiled ones', () => {
  expect(siblingModule('./thread.ts', 'file:///a/b.ts').href).toBe('file:///a/thread.ts');
  expect(siblingModule('./thread.ts', 'file:///a/b.js').href).toBe('file:///a/thread.js');
});
