import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, sendJson, serving } from '../solvers/local-server.ts';

/** What a request asked, as the server understood it. */
export interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatRequest;
  /** All that was said to the model. */
  readonly prompt: string;
  /** What stands between the markers. */
  readonly page: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name?: string; readonly strict?: boolean; readonly schema?: Schema };
  };
}

type Schema = Readonly<Record<string, unknown>>;

/** The next answer is this, whatever was asked. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'silence'
  | 'reset';

export interface ChatServerOptions {
  readonly key?: string;
  readonly model?: string;
  /** What the model says: text as it is, anything else as JSON. */
  readonly answer: (asked: Asked) => unknown;
  readonly finish?: string;
  readonly formats?: readonly string[];
  /** Names of parameters that this server does not know. */
  readonly unknownParameters?: readonly string[];
  readonly contextTokens?: number;
  readonly countsTokens?: boolean;
  readonly faults?: readonly Fault[];
}

export interface ChatServer {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/**
 * A server of `POST /v1/chat/completions` that checks what the real ones check: the key, the model, the shape of the
 * request, the rules for strict schemas, the word JSON where `json_object` is wanted, the length of the context. Errors
 * have the protocol's shape. Ends with the test.
 */
export async function startChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const asked: Asked[] = [];
  const faults = [...(options.faults ?? [])];
  const origin = await serving((request, response) => {
    void respond(request, response, options, asked, faults).catch(() => response.destroy());
  });
  return { url: `${origin}/v1`, asked };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: ChatServerOptions,
  asked: Asked[],
  faults: Fault[],
): Promise<void> {
  const text = await bodyOf(request);
  if (request.url !== '/v1/chat/completions')
    return refuse(response, 404, 'Unknown request URL', 'unknown_url');
  if (request.method !== 'POST')
    return refuse(response, 405, 'Not allowed to do that', 'method_not_supported');
  const body = JSON.parse(text) as ChatRequest;
  const prompt = body.messages.map(({ content }) => content).join('\n');
  const page = /\nBEGIN PAGE (\w+)\n([\s\S]*)\nEND PAGE \1\n/.exec(prompt)?.[2] ?? '';
  const now: Asked = { headers: request.headers, body, prompt, page };
  asked.push(now);
  const fault = faults.shift();
  if (fault === 'silence') return;
  if (fault === 'reset') return void request.socket.destroy();
  if (fault !== undefined) {
    response
      .writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      .end(fault.body ?? '{}');
    return;
  }
  const wrong = flawOf(now, options);
  if (wrong !== null) return refuse(response, ...wrong);
  const answer = options.answer(now);
  const content = typeof answer === 'string' ? answer : JSON.stringify(answer);
  sendJson(response, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: body.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: options.finish ?? 'stop',
      },
    ],
    ...(options.countsTokens === false
      ? {}
      : { usage: { prompt_tokens: tokens(prompt), completion_tokens: tokens(content), total_tokens: 0 } }),
  });
}

const tokens = (text: string): number => Math.ceil(text.length / 4);

type Flaw = readonly [status: number, message: string, code: string | null, param?: string];

function refuse(response: ServerResponse, ...[status, message, code, param]: Flaw): void {
  const error = { message, type: 'invalid_request_error', param: param ?? null, code };
  sendJson(response, { error }, status);
}

function flawOf({ headers, body, prompt }: Asked, options: ChatServerOptions): Flaw | null {
  const { key, model, formats = ['json_schema', 'json_object'], unknownParameters = [] } = options;
  const sent = headers.authorization;
  // As the real one does, it repeats the key.
  if (key !== undefined && sent !== `Bearer ${key}`) {
    return [401, `Incorrect API key provided: ${sent?.slice(7) ?? 'none'}.`, 'invalid_api_key'];
  }
  if (model !== undefined && body.model !== model) {
    return [404, `The model \`${body.model}\` does not exist.`, 'model_not_found'];
  }
  if (body.messages.length === 0) return [400, 'messages is empty', null, 'messages'];
  const unknown = unknownParameters.find((name) => name in body);
  if (unknown !== undefined) {
    return [
      400,
      `Unsupported parameter: '${unknown}' is not supported with this model.`,
      'unsupported_parameter',
      unknown,
    ];
  }
  if (tokens(prompt) > (options.contextTokens ?? Number.POSITIVE_INFINITY)) {
    return [400, "This model's maximum context length is exceeded.", 'context_length_exceeded', 'messages'];
  }
  const format = body.response_format;
  if (format === undefined) return null;
  if (!formats.includes(format.type)) {
    return [400, `response_format type is unavailable now: ${format.type}`, null, 'response_format'];
  }
  if (format.type === 'json_object') {
    return /json/i.test(prompt) ? null : [400, "'messages' must contain the word 'json'", null, 'messages'];
  }
  const { name = '', strict, schema } = format.json_schema ?? {};
  if (!/^[\w-]{1,64}$/.test(name) || schema === undefined) {
    return [400, 'Missing required parameter', 'missing_required_parameter', 'response_format.json_schema'];
  }
  const flaw = strict === true ? strictFlaw(schema, schema) : null;
  return flaw === null ? null : [400, `Invalid schema: ${flaw}`, 'invalid_json_schema', 'response_format'];
}

const ENFORCED = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'anyOf',
  '$ref',
  '$defs',
  'description',
  'format',
]);

/** What keeps a schema from being enforced: every object must be closed and require all that it names. */
function strictFlaw(schema: Schema, root: Schema): string | null {
  const unknown = Object.keys(schema).find((keyword) => !ENFORCED.has(keyword));
  if (unknown !== undefined) return `'${unknown}' is not permitted`;
  if (schema.$ref !== undefined) {
    const name = String(schema.$ref).replace('#/$defs/', '');
    return name in ((root.$defs as Schema | undefined) ?? {})
      ? null
      : `reference ${schema.$ref} leads nowhere`;
  }
  if (schema.type === undefined && schema.anyOf === undefined) return 'schema must have a type';
  const parts: Schema[] = [];
  const types = [schema.type].flat();
  if (types.includes('object')) {
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    if (schema.additionalProperties !== false) return "'additionalProperties' must be false";
    const missing = Object.keys(properties).find((name) => !(schema.required as string[]).includes(name));
    if (missing !== undefined) return `'required' must have ${missing}`;
    parts.push(...Object.values(properties));
  }
  if (types.includes('array')) parts.push((schema.items as Schema | undefined) ?? {});
  parts.push(...((schema.anyOf as Schema[] | undefined) ?? []));
  parts.push(...Object.values((schema.$defs as Record<string, Schema> | undefined) ?? {}));
  for (const part of parts) {
    const flaw = strictFlaw(part, root);
    if (flaw !== null) return flaw;
  }
  return null;
}
