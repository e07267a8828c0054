import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { beside, CALM_MS, createQuarantine, type Quarantine, type Turn } from './quarantine.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const calm = () => vi.advanceTimersByTimeAsync(CALM_MS);

/** Asks for a turn; `turns` has the names of those that have begun, in their order. */
function asking(quarantine: Quarantine) {
  const turns: string[] = [];
  const ask = async (name: string, deaths = 0, signal = new AbortController().signal) => {
    const turn = await quarantine.turn(deaths, signal);
    turns.push(turn === null ? `no ${name}` : name);
    return turn;
  };
  return { turns, ask };
}

async function begun(turn: Promise<Turn | null>): Promise<Turn> {
  const given = await turn;
  if (given === null) throw new Error('The turn was not given.');
  return given;
}

describe('the quarantine', () => {
  it('is open until a turn is prepared, and again when the turn has ended', async () => {
    const quarantine = createQuarantine(Date.now);
    const { ask } = asking(quarantine);
    const turn = ask('it');
    expect(quarantine.isOpen).toBe(true);
    await calm();
    expect(quarantine.isOpen).toBe(false);
    const told = vi.fn();
    quarantine.whenOpen(told);
    expect(told).not.toHaveBeenCalled();
    (await begun(turn)).end();
    expect(quarantine.isOpen).toBe(true);
    expect(told).toHaveBeenCalledOnce();
  });

  it('begins a turn when all work under way has ended', async () => {
    const quarantine = createQuarantine(Date.now);
    const { turns, ask } = asking(quarantine);
    quarantine.enter();
    quarantine.enter();
    void ask('it');
    await calm();
    quarantine.leave();
    await calm();
    expect([turns, quarantine.isOpen]).toEqual([[], false]);
    quarantine.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(turns).toEqual(['it']);
  });

  it('gives no turn in the first seconds of the process, and later where processes died in turns', async () => {
    const quarantine = createQuarantine(Date.now);
    const { turns, ask } = asking(quarantine);
    const first = ask('never died alone');
    void ask('died alone once', 1);
    await vi.advanceTimersByTimeAsync(CALM_MS - 1);
    expect(turns).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toEqual(['never died alone']);
    (await begun(first)).end();
    await vi.advanceTimersByTimeAsync(CALM_MS - 1);
    expect(turns).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toEqual(['never died alone', 'died alone once']);
  });

  it('gives turns one at a time, to work with the fewest deaths first', async () => {
    const quarantine = createQuarantine(Date.now);
    const { turns, ask } = asking(quarantine);
    await vi.advanceTimersByTimeAsync(10 * CALM_MS);
    const first = await begun(ask('first'));
    for (const deaths of [2, 0, 1]) void begun(ask(`with ${deaths}`, deaths)).then((turn) => turn.end());
    await vi.advanceTimersByTimeAsync(10 * CALM_MS);
    expect(turns).toEqual(['first']);
    first.end();
    await vi.advanceTimersByTimeAsync(100 * CALM_MS);
    expect(turns).toEqual(['first', 'with 0', 'with 1', 'with 2']);
  });

  it('keeps other work waiting for a fifth of the time at most', async () => {
    const quarantine = createQuarantine(Date.now);
    const { turns, ask } = asking(quarantine);
    const first = ask('first');
    await calm();
    void ask('second');
    await vi.advanceTimersByTimeAsync(1_000);
    (await begun(first)).end();
    await vi.advanceTimersByTimeAsync(3_999);
    expect([turns, quarantine.isOpen]).toEqual([['first'], true]);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toEqual(['first', 'second']);
  });

  it('opens when work that waits for its turn is told to stop', async () => {
    const quarantine = createQuarantine(Date.now);
    const { turns, ask } = asking(quarantine);
    const early = new AbortController();
    void ask('early', 0, early.signal);
    early.abort();
    await calm();
    expect([turns, quarantine.isOpen]).toEqual([['no early'], true]);
    const late = new AbortController();
    quarantine.enter();
    void ask('late', 0, late.signal);
    expect(quarantine.isOpen).toBe(false);
    late.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect([turns, quarantine.isOpen]).toEqual([['no early', 'no late'], true]);
    expect(await quarantine.turn(0, late.signal)).toBeNull();
  });

  it('does work beside other work when it is open, and counts it until it has ended', async () => {
    const quarantine = createQuarantine(Date.now);
    const { turns, ask } = asking(quarantine);
    await calm();
    const first = await begun(ask('first'));
    const work = Promise.withResolvers<void>();
    const done = beside(quarantine, () => {
      turns.push('work');
      return work.promise;
    });
    expect(turns).toEqual(['first']);
    first.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(turns).toEqual(['first', 'work']);
    void ask('second');
    await calm();
    expect(turns).toEqual(['first', 'work']);
    work.resolve();
    await done;
    await vi.advanceTimersByTimeAsync(0);
    expect(turns).toEqual(['first', 'work', 'second']);
  });
});
