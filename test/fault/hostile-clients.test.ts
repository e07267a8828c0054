import { expect, test } from 'vitest';
import { assault } from './hostile-clients/assault.ts';
import { HOSTILE_KINDS } from './hostile-clients/kinds.ts';

/** `make fault` has 1,000 connections of each kind, and measures memory and time. */
const CONNECTIONS = 24;
const LIMIT_MS = 240_000;
/** What requests without a key may hold of the bodies that have not arrived whole: an eighth of the setting. */
const KEYLESS_BYTES = 16_777_216;

/** How each kind is answered, as far as its answer is read: by what comes before the body, and never by what is in it. */
const MAY_BE_TOLD: Readonly<Record<string, readonly string[]>> = {
  'half-sent heads': [],
  'half-sent bodies to open routes': ['400', '413', '429', '408'],
  'half-sent bodies to paths that do not exist': ['404'],
  'bodies with 199,000 keys': ['413', '429'],
  'readers that do not read': [],
  WebSockets: ['101', '403', '404'],
};

test(
  'clients without a key are answered early, hold little, and leave nothing open',
  async () => {
    const { stages, exit, leftOpen, stderr } = await assault({
      connections: CONNECTIONS,
      holdMs: 0,
      sendMs: 30_000,
      say: () => undefined,
    });
    expect({ exit, stderr }).toEqual({ exit: null, stderr: '' });
    expect(stages).toHaveLength(HOSTILE_KINDS.length + 1);
    expect(stages.map(({ health }) => health.failed)).toEqual(stages.map(() => 0));
    for (const { heldBytes } of stages) expect(heldBytes).toBeLessThan(KEYLESS_BYTES);
    for (const { kind, answered } of stages.flatMap(({ fared }) => fared)) {
      const others = Object.keys(answered).filter((status) => !MAY_BE_TOLD[kind]?.includes(status));
      expect({ kind, others }).toEqual({ kind, others: [] });
    }
    expect(leftOpen).toBeLessThanOrEqual(0);
  },
  LIMIT_MS,
);
