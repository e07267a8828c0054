import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import { createTurns } from './turns.ts';

const [A, B, C] = ['acc_a', 'acc_b', 'acc_c'] as AccountId[] as [AccountId, AccountId, AccountId];

/** Turns whose order is written down. */
function world(options: Partial<Parameters<typeof createTurns>[0]> = {}) {
  const turns = createTurns({ mostRunning: 2, mostOfAccount: 1, ...options });
  const begun: string[] = [];
  const leaves = new Map<string, () => void>();
  async function ask(account: AccountId, name: string, signal?: AbortSignal): Promise<void> {
    leaves.set(name, await turns.enter(account, signal));
    begun.push(name);
  }
  /** A query that still waits when its test is over is refused later, and nothing waits for that. */
  function askBeside(account: AccountId, name: string): void {
    ask(account, name).catch(() => undefined);
  }
  const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));
  return { turns, begun, ask, askBeside, settled, leave: (name: string) => leaves.get(name)?.() };
}

describe('turns of queries', () => {
  it('an account does not take the turns of others', async () => {
    const { begun, askBeside, settled, leave } = world();
    for (const name of ['a1', 'a2', 'a3']) askBeside(A, name);
    askBeside(B, 'b1');
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    askBeside(C, 'c1');
    await settled();
    leave('a1');
    await settled();
    // C came last, and has had no turn.
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    leave('c1');
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('with one turn for all, accounts take turns', async () => {
    const { begun, askBeside, settled, leave } = world({ mostRunning: 1 });
    for (const name of ['a1', 'a2', 'a3']) askBeside(A, name);
    for (const name of ['b1', 'b2']) askBeside(B, name);
    for (const name of ['a1', 'b1', 'a2', 'b2', 'a3']) {
      await settled();
      expect(begun.at(-1)).toBe(name);
      leave(name);
      leave(name);
    }
  });

  it('a query that would wait too long, or behind too many of its account, is told when to try again', async () => {
    const refused = { code: 'TOO_MANY_QUERIES', retryAfterMs: 5_000 };
    const late = world({ mostWaitMs: 1 });
    await late.ask(A, 'a1');
    await expect(late.ask(A, 'a2')).rejects.toMatchObject(refused);
    const full = world({ mostWaiting: 20 });
    await full.ask(A, 'a1');
    full.askBeside(A, 'a2');
    full.askBeside(A, 'a3');
    await expect(full.ask(A, 'a4')).rejects.toMatchObject(refused);
    await full.ask(B, 'b1');
    full.leave('a1');
    await full.settled();
    expect(full.begun).toEqual(['a1', 'b1', 'a2']);
  });

  it('a query whose client is gone waits no longer, and takes no turn', async () => {
    const { begun, ask, askBeside, settled, leave } = world({ mostRunning: 1 });
    const stop = new AbortController();
    await ask(A, 'a1');
    const gone = ask(B, 'b1', stop.signal);
    askBeside(C, 'c1');
    stop.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    leave('a1');
    await settled();
    expect(begun).toEqual(['a1', 'c1']);
  });
});
