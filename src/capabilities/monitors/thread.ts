import { answerCalls } from '../../lib/threads/answer-calls.ts';
import { decideChange, fingerprintOf } from './decide-change.ts';
import type { DecideTasks } from './decide-lane.ts';
import { compareContents } from './watched-lines.ts';

answerCalls<DecideTasks>({
  decide: ({ state, observation, rules, diff }) =>
    decideChange(state, observation, rules, (from, to) => compareContents(from, to, diff).isChanged),
  compare: ({ before, after, diff }) => compareContents(before, after, diff),
  fingerprint: fingerprintOf,
});
