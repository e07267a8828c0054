import type { Browser, BrowserContext } from 'patchright-core';
import { guarded, listenOnce } from '../../core/errors/guarded.ts';
import { defined } from '../../lib/defined.ts';
import { internalsOf } from '../browser/patchright/patchright-patches.ts';

/** What runs scripts in a browser. Each starts only after it was told everything that is in its briefing. */
export type TargetKind = 'page' | 'iframe' | 'worker' | 'shared_worker' | 'service_worker';

export interface TargetCommand {
  readonly method: string;
  readonly params: object;
}

export interface TargetSetup {
  commandsFor(kind: TargetKind): readonly TargetCommand[];
  /** Sent with the request for a service worker's script, which the browser makes before it listens to commands. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Intercepts the messages between Playwright and the browser, because Playwright's interface reaches a worker only after its
 * script runs. Every target of a context that has a briefing is held by Playwright until it is set up; what the
 * briefing says is put right before the word that lets it go, so no script of it can see anything else.
 */
export interface TargetCommands {
  /** From now on for every target of the context, those that frames and workers open included. */
  brief(context: BrowserContext, briefing: TargetSetup): void;
  /** What a page of the context did not accept; null when it took everything. */
  refusalOf(context: BrowserContext): string | null;
}

const KINDS: ReadonlySet<string> = new Set(['page', 'iframe', 'worker', 'shared_worker', 'service_worker']);
const LET_GO = 'Runtime.runIfWaitingForDebugger';
const PASS_ON = 'Fetch.continueRequest';
const USER_AGENT = 'Emulation.setUserAgentOverride';
/** Numbers of our own messages count down from here; Playwright's are positive, but for one above this. */
const FIRST_ID = -1_000_000;
/** The target had gone before it got the message. */
const NO_SUCH_SESSION = -32_001;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly targetInfo?: { readonly type: string; readonly browserContextId?: string };
    readonly requestId?: string;
    readonly request?: { readonly headers: Readonly<Record<string, string>> };
  };
  readonly result?: object;
  readonly error?: { readonly code?: number; readonly message: string };
}

/** As Playwright's transports are, whether they lead through a pipe or a socket. */
interface Transport {
  send(message: object): void;
  onmessage?: ((message: Message) => void) | undefined;
}

interface Member {
  readonly kind: TargetKind;
  readonly contextId: string;
  /** Patchright says the word more than once. */
  isConfigured: boolean;
  /** Headers of requests that are held; only of service workers. */
  readonly held: Map<string, Readonly<Record<string, string>>>;
}

interface Entry {
  readonly briefing: TargetSetup;
  refusal: string | null;
}

const commandsByBrowser = new WeakMap<Browser, TargetCommands>();

/** One object for each browser. Null for one that Playwright itself does not speak to from this process. */
export function targetCommandsOf(browser: Browser): TargetCommands | null {
  const known = commandsByBrowser.get(browser);
  if (known !== undefined) return known;
  const transport = internalsOf<{ _connection?: { _transport?: Transport } }>(browser)?._connection
    ?._transport;
  if (transport?.onmessage === undefined) return null;
  const commands = interceptTransport(transport);
  commandsByBrowser.set(browser, commands);
  return commands;
}

function interceptTransport(transport: Transport): TargetCommands {
  /** Bounded by the contexts of the browser: an id is never used again. */
  const entries = new Map<string, Entry>();
  /** By session; bounded by what the browser has open. */
  const members = new Map<string, Member>();
  /** Our own commands that were not answered yet, with the context they concern. */
  const asked = new Map<number, { readonly contextId: string; readonly method: string }>();
  let lastId = FIRST_ID;
  const send = transport.send.bind(transport);
  const receive = transport.onmessage?.bind(transport);

  const tell = (sessionId: string, member: Member): void => {
    if (member.isConfigured) return;
    member.isConfigured = true;
    const { kind, contextId } = member;
    for (const command of entries.get(contextId)?.briefing.commandsFor(kind) ?? []) {
      lastId -= 1;
      if (kind === 'page') asked.set(lastId, { contextId, method: command.method });
      send({ id: lastId, sessionId, ...command });
    }
  };

  transport.send = (message: Message) => {
    const { method, sessionId = '', params } = message;
    const member = members.get(sessionId);
    if (member !== undefined && method === LET_GO) tell(sessionId, member);
    if (member !== undefined && method === USER_AGENT) {
      const own = entries.get(member.contextId)?.briefing.commandsFor(member.kind);
      send({ ...message, params: own?.find((command) => command.method === USER_AGENT)?.params ?? params });
      return;
    }
    const held = method === PASS_ON ? member?.held.get(params?.requestId ?? '') : undefined;
    if (member !== undefined && held !== undefined) {
      member.held.delete(params?.requestId ?? '');
      const headers = { ...held, ...entries.get(member.contextId)?.briefing.headers };
      const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
      send({ ...message, params: { ...params, headers: list } });
      return;
    }
    // What a session has set ends with it, so the sessions of shared workers, which Playwright has no use for, stay.
    const leaves = method === 'Target.detachFromTarget' ? members.get(params?.sessionId ?? '') : undefined;
    if (leaves?.kind === 'shared_worker') {
      const answer = { ...defined({ id: message.id }), sessionId, result: {} };
      queueMicrotask(() => transport.onmessage?.(answer));
      return;
    }
    send(message);
  };

  transport.onmessage = guarded((message: Message) => {
    if (message.id !== undefined && message.id < FIRST_ID) {
      const question = asked.get(message.id);
      asked.delete(message.id);
      const entry = question === undefined ? undefined : entries.get(question.contextId);
      if (entry !== undefined && message.error !== undefined && message.error.code !== NO_SUCH_SESSION) {
        entry.refusal ??= `${question?.method}: ${message.error.message}`;
      }
      return;
    }
    const { targetInfo, sessionId = '', request, requestId = '' } = message.params ?? {};
    const member =
      message.method === 'Fetch.requestPaused' ? members.get(message.sessionId ?? '') : undefined;
    if (member?.kind === 'service_worker' && request !== undefined)
      member.held.set(requestId, request.headers);
    if (message.method === 'Target.attachedToTarget' && targetInfo !== undefined) {
      const { type, browserContextId = '' } = targetInfo;
      if (KINDS.has(type) && entries.has(browserContextId)) {
        const kind = type as TargetKind;
        members.set(sessionId, { kind, contextId: browserContextId, isConfigured: false, held: new Map() });
      }
    } else if (message.method === 'Target.detachedFromTarget') members.delete(sessionId);
    receive?.(message);
  });

  return {
    brief(context, briefing) {
      const id = contextIdOf(context);
      if (id === null) return;
      entries.set(id, { briefing, refusal: null });
      listenOnce(context, 'close', () => entries.delete(id));
    },
    refusalOf(context) {
      const entry = entries.get(contextIdOf(context) ?? '');
      return entry === undefined ? 'the context is not known' : entry.refusal;
    },
  };
}

function contextIdOf(context: BrowserContext): string | null {
  return internalsOf<{ _browserContextId?: string }>(context)?._browserContextId ?? null;
}
