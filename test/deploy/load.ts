import { setTimeout as delay } from 'node:timers/promises';

/** What a client got: a status, with `Retry-After` where the answer has it, or why there was no answer. */
export interface ClientAnswer {
  readonly what: string;
  readonly status: number | null;
  readonly retryAfter: string | null;
  readonly failure: string | null;
}

export interface Load {
  readonly answers: readonly ClientAnswer[];
  /** Each client sends no more, and has the answer of its last request. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly origin: string;
  readonly apiKey: string;
  /** One client each; it sends the same request again as soon as it is answered. */
  readonly requests: readonly {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly body?: unknown;
  }[];
}

/** Much less than `Retry-After` says, which is harder for a server, and enough to leave it the processor. */
const REFUSED_PAUSE_MS = 20;

/** Clients that ask without a pause. */
export function startLoad({ origin, apiKey, requests }: LoadOptions): Load {
  const answers: ClientAnswer[] = [];
  let isStopped = false;
  const clients = requests.map(async ({ method, path, body }) => {
    while (!isStopped) {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const answer = await ask(new URL(path, origin), init);
      answers.push(answer);
      if (answer.status === 503) await delay(REFUSED_PAUSE_MS);
    }
  });
  return {
    answers,
    async stop() {
      isStopped = true;
      await Promise.all(clients);
    },
  };
}

async function ask(url: URL, init: RequestInit): Promise<ClientAnswer> {
  const what = `${init.method} ${url.pathname}`;
  try {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    return { what, status: response.status, retryAfter: response.headers.get('retry-after'), failure: null };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string; message?: string } };
    return { what, status: null, retryAfter: null, failure: cause?.code ?? cause?.message ?? String(error) };
  }
}
