import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LAUNCH_ENVIRONMENT, LAUNCH_FLAGS } from '../launch.ts';
import type { FrontierAnswer, FrontierCommand } from './frontier.ts';

/** A frontier in another process: its memory is its own, and two can be measured in turn. */
export interface FrontierChild {
  ask(name: FrontierCommand['name']): Promise<FrontierAnswer>;
  close(): Promise<void>;
}

/** `place` is a folder, or the URL of an empty PostgreSQL database. */
export function forkFrontier(place: string, urls: number, hosts: number): FrontierChild {
  const child = fork(
    fileURLToPath(new URL('./frontier.ts', import.meta.url)),
    [place, String(urls), String(hosts)],
    { execArgv: [...LAUNCH_FLAGS], env: { ...process.env, ...LAUNCH_ENVIRONMENT } },
  );
  const ended = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`The frontier of ${urls} URLs ended with ${code}.`);
  });
  ended.catch(() => undefined);
  return {
    async ask(name) {
      const answer = once(child, 'message') as Promise<[FrontierAnswer]>;
      child.send({ name } satisfies FrontierCommand);
      const first = await Promise.race([answer, ended]);
      if (first === undefined) throw new Error('The frontier ended before it answered.');
      return first[0];
    },
    async close() {
      child.send({ name: 'close' } satisfies FrontierCommand);
      await ended;
    },
  };
}
