import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StaticMessage, StaticQuestion } from './static-server.ts';

/** The large generated site of the tests as a web server has it that has nothing else to do. */
export interface StaticSite {
  readonly url: string;
  /** Requests since the last reset. */
  requests(): Promise<number>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

const SERVER = fileURLToPath(new URL('./static-server.ts', import.meta.url));

export async function startStaticSite(pages: number): Promise<StaticSite> {
  const child = fork(SERVER, [String(pages)]);
  const heard = async (): Promise<StaticMessage> => (await once(child, 'message'))[0];
  const ask = async (question: StaticQuestion): Promise<number> => {
    const answer = heard();
    child.send(question);
    const message = await answer;
    return 'requests' in message ? message.requests : Number.NaN;
  };
  const started = await heard();
  if (!('port' in started)) throw new Error('The static site did not say its port.');
  return {
    url: `http://127.0.0.1:${started.port}`,
    requests: () => ask('requests'),
    async reset() {
      await ask('reset');
    },
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
