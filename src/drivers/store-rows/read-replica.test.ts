import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReadReplica } from './read-replica.ts';

describe('a read replica that hangs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('costs questions two seconds, not the time limit of a statement; the primary answers', async () => {
    const changes: string[] = [];
    const { read } = createReadReplica({
      primary: async () => [{ lsn: '0/1', id: '1' }],
      replica: () => new Promise(() => undefined),
      onChange: (isUsed, why) => void changes.push(`${isUsed}: ${why}`),
    });
    const ask = () =>
      read(
        async () => 'replica',
        async () => 'primary',
      );
    const answers = Promise.all([ask(), ask()]);
    await vi.advanceTimersByTimeAsync(2_001);
    expect(await answers).toEqual(['primary', 'primary']);
    expect(await ask()).toBe('primary');
    expect(changes).toEqual(['false: it does not answer within 2000 ms']);
  });
});
