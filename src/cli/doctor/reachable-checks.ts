import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { checkMailServer } from '../../capabilities/webhooks/mail.ts';
import { readPairs } from '../../core/config/field-types.ts';
import type { Settings } from '../../core/config/settings.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { receiverUrl, withoutLogin } from '../../core/tracing/otlp-exporter.ts';
import { parseProxyFile, withListedProxies } from '../../crawl/plan/proxies/proxy-file.ts';
import { ProxyPool } from '../../crawl/plan/proxies/proxy-pool.ts';
import { loadPolicyFile } from '../../crawl/policy/policy-file.ts';
import { createTunnelOpener } from '../../fetch/proxy/open-tunnel.ts';
import { faultOf } from '../../fetch/proxy/proxy-failure.ts';
import { within } from '../../lib/waits.ts';
import { type Check, failure, fine, NOT_USED, tried, warning } from './finding.ts';

const ANSWER_MS = 8_000;
const MOST_PROXIES = 50;
/** No such host: a proxy that says so has accepted the login (RFC 2606). */
const NO_HOST = 'doctor.invalid';

/** Services that the settings name, and the files that say how to use them. */
export const REACHABLE_CHECKS = {
  async 'policy file'({ shell, settings: { policyFile } }) {
    const path = policyFile ?? (await shell.shippedPolicy());
    return tried('correct the lines that are named', async () => {
      const { file } = loadPolicyFile(path);
      return fine(`${path}, ${file.domains.size} domains`);
    });
  },

  async 'proxy file'({ settings: { proxyFile } }) {
    if (proxyFile === undefined) return NOT_USED;
    return tried('correct it as docs/proxies.md shows, or unset SCRAPIFIE_PROXY_FILE', async () => {
      const { providers } = await readProxyFile(proxyFile);
      return fine(`${proxyFile}, ${providers.length} providers`);
    });
  },

  async proxies({ settings: { proxyFile, proxies } }) {
    const file = proxyFile === undefined ? null : await readProxyFile(proxyFile).catch(() => null);
    const config = withListedProxies(file, proxies);
    if (config === null) return NOT_USED;
    const listed = new ProxyPool(config, Math.random).due(Date.now()).slice(0, MOST_PROXIES);
    if (listed.length === 0) return fine('of providers only: their gateways are asked with the first page');
    const open = createTunnelOpener({ allowPrivate: true, timeoutMs: ANSWER_MS });
    const problems = await Promise.all(
      listed.map(async (proxy): Promise<string | null> => {
        try {
          (await open(proxy, NO_HOST, 443)).destroy();
          return null;
        } catch (error) {
          // The host of this request does not exist: a proxy that cannot reach it works as it should.
          return faultOf(error) === 'proxy' && error instanceof Error ? error.message : null;
        }
      }),
    );
    const broken = problems.filter((problem) => problem !== null);
    if (broken.length === 0) return fine(`${listed.length} answer`);
    const found = `${broken.length} of ${listed.length} do not work: ${broken.slice(0, 3).join('; ')}`;
    const advice =
      'correct address, user and password of these, or take them out of SCRAPIFIE_PROXIES or the proxy file';
    return broken.length === listed.length ? failure(found, advice) : warning(found, advice);
  },

  async 'language model'({ settings: { llmUrl, llmKey, llmModel = '' } }) {
    if (llmUrl === undefined) return NOT_USED;
    const url = `${llmUrl.replace(/\/$/, '')}/models`;
    return tried('correct SCRAPIFIE_LLM_URL, or start the server behind it', async () => {
      const headers = llmKey === undefined ? {} : { authorization: `Bearer ${llmKey}` };
      const answer = await ask(url, { headers });
      const where = new URL(llmUrl).host;
      if (answer.status === 401 || answer.status === 403) {
        return failure(`${where} refuses the key (${answer.status})`, 'correct SCRAPIFIE_LLM_KEY');
      }
      const { data } = (await answer.json().catch(() => ({}))) as {
        data?: readonly { readonly id?: unknown }[];
      };
      if (!answer.ok || !Array.isArray(data)) {
        return warning(
          `${where} answers, and does not list its models (${answer.status})`,
          'try a page with `extract`, to be sure',
        );
      }
      if (data.some(({ id }) => id === llmModel)) return fine(`${where}, ${llmModel}`);
      return failure(
        `${where} has no model ${llmModel}`,
        'correct SCRAPIFIE_LLM_MODEL: `curl` the address with /models lists those it has',
      );
    });
  },

  async 'e-mail'({ settings: { smtpUrl } }) {
    if (smtpUrl === undefined) return NOT_USED;
    return tried(
      'correct host, port, user and password in SCRAPIFIE_SMTP_URL; smtps:// is for port 465',
      async () => {
        await checkMailServer({ url: smtpUrl, timeoutMs: ANSWER_MS });
        return fine(new URL(smtpUrl).host);
      },
    );
  },

  async traces({ settings: { otelUrl, otelHeaders } }) {
    if (otelUrl === undefined) return NOT_USED;
    const { href, login } = withoutLogin(receiverUrl(otelUrl));
    const { host } = new URL(href);
    return tried(
      'start the receiver (OTLP over HTTP, mostly port 4318), or correct SCRAPIFIE_OTEL_URL',
      async () => {
        const given = Object.fromEntries(readPairs(otelHeaders) ?? []);
        const headers = { 'content-type': 'application/x-protobuf', ...login, ...given };
        // An empty message is a valid one without spans.
        const { status, ok } = await ask(href, { method: 'POST', headers, body: new Uint8Array(0) });
        if (ok) return fine(`${host} takes spans`);
        if (status === 401 || status === 403) {
          return failure(`${host} refuses the headers (${status})`, 'correct SCRAPIFIE_OTEL_HEADERS');
        }
        return failure(
          `${host} answers ${status}`,
          'correct the path of SCRAPIFIE_OTEL_URL; receivers take spans at /v1/traces',
        );
      },
    );
  },

  async 'public URL'({ settings: { publicUrl } }) {
    if (publicUrl === undefined) return NOT_USED;
    const url = new URL('/healthz', publicUrl);
    const advice =
      'point the reverse proxy of this address at the server, and see to its name and its certificate';
    try {
      const answer = await ask(url.href);
      const { data } = (await answer.json().catch(() => ({}))) as { data?: { readonly version?: unknown } };
      if (answer.ok && typeof data?.version === 'string')
        return fine(`${url.origin}, version ${data.version}`);
      return warning(`${url.origin} answers ${answer.status}, and not as Scrapifie does`, advice);
    } catch (error) {
      return warning(`${url.origin} cannot be reached from here (${reasonOf(error)})`, advice);
    }
  },

  async 'other services'({ settings }) {
    const named = OTHER_SERVICES.flatMap((name) => {
      const url = settings[name];
      return url === undefined ? [] : [{ name, url }];
    });
    if (named.length === 0) return NOT_USED;
    const problems = await Promise.all(
      named.map(async ({ name, url }) => {
        const why = await whyUnreachable(new URL(url));
        return why === null ? null : `${name} (${new URL(url).host}): ${why}`;
      }),
    );
    const broken = problems.filter((problem) => problem !== null);
    if (broken.length === 0) return fine(named.map(({ name }) => name).join(', '));
    return failure(broken.join('; '), 'start these, or correct or unset the settings that name them');
  },
} as const satisfies Readonly<Record<string, Check>>;

/** Settings with the address of a server that a page or a request may need. */
const OTHER_SERVICES = [
  'remoteBrowserUrl',
  'flaresolverrUrl',
  'credentialServiceUrl',
  'oidcIssuer',
  'firecrawlUrl',
  'searxngUrl',
] as const satisfies readonly (keyof Settings)[];

async function readProxyFile(path: string) {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new ScrapifieError('INVALID_PROXY_FILE', `${path} cannot be read: ${error.message}`);
  });
  return parseProxyFile(text, path);
}

/** Error messages of fetch say nothing; their causes do, and neither has the URL with its secrets. */
async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    throw new Error(`${new URL(url).host} does not answer: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return code ?? message;
}

/** Whether a connection can be made; what the server then says is another matter. Null when it can. */
async function whyUnreachable({ hostname, port, protocol }: URL): Promise<string | null> {
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
  });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once('connect', resolve);
    socket.once('error', reject);
    await within(ANSWER_MS, promise);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  } finally {
    socket.destroy();
  }
}
