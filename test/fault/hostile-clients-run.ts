import { parseArgs } from 'node:util';
import { assault } from './hostile-clients/assault.ts';

/**
 * Clients without a key that send half a head, half a body, too much, or read nothing, against a server of its own:
 * `node test/fault/hostile-clients-run.ts --connections 1000 [--hold-seconds 5] [--only WebSockets] [--apart]`;
 * with `--apart` the server has a core for itself.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    apart: { type: 'boolean', default: false },
    connections: { type: 'string', default: '1000' },
    'hold-seconds': { type: 'string', default: '5' },
    'send-seconds': { type: 'string', default: '10' },
  },
});
const HEALTH_MS = 200;
const GROWN_MB = 150;
const { stages, exit, leftOpen, stderr } = await assault({
  connections: Number(values.connections),
  holdMs: Number(values['hold-seconds']) * 1_000,
  sendMs: Number(values['send-seconds']) * 1_000,
  only: values.only,
  isApart: values.apart,
  say: (line) => void process.stdout.write(`${line}\n`),
});
const worstMs = Math.max(...stages.map(({ health }) => health.worstMs));
const grownMb = Math.max(...stages.map((stage) => stage.grownMb));
const failed = stages.reduce((sum, { health }) => sum + health.failed, 0);
const problems = [
  ...(exit === null ? [] : [`the server ended: ${exit}`]),
  ...(failed === 0 ? [] : [`/healthz did not answer ${failed} times`]),
  ...(worstMs <= HEALTH_MS ? [] : [`/healthz took ${worstMs} ms`]),
  ...(grownMb <= GROWN_MB ? [] : [`memory grew by ${grownMb} MB`]),
  ...(leftOpen <= 0 ? [] : [`${leftOpen} files stayed open`]),
];
process.stdout.write(`${JSON.stringify({ worstMs, grownMb, leftOpen, stderr, problems }, null, 2)}\n`);
process.exit(problems.length === 0 ? 0 : 1);
