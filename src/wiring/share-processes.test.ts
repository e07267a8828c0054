import { expect, it } from 'vitest';
import { createBusLocal } from '../drivers/bus-local/bus-local.ts';
import { shareProcesses } from './share-processes.ts';

it('knows the processes that were heard of lately, itself first', async () => {
  const bus = createBusLocal({ onListenerError: (error) => expect.unreachable(String(error)) });
  let time = 1_000;
  const sharing = shareProcesses({ bus, process: 'a:1', role: 'api', now: () => time });
  bus.publish('process.alive', { process: 'b:2', role: 'http-worker', version: '1.0.0', startedAt: 0 });
  await expect.poll(() => sharing.processes().map((each) => each.process)).toEqual(['a:1', 'b:2']);
  time += 40_000;
  expect(sharing.processes().map((each) => each.process)).toEqual(['a:1']);
  sharing.close();
  await bus.close();
});
