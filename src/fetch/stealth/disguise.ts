import type { BrowserContextOptions } from 'patchright-core';
import type { Identity } from '../../core/model/identity.ts';
import type { TargetCommand, TargetSetup } from './target-commands.ts';

/** What Playwright sets for every page of a context. */
export function contextOptionsOf(identity: Identity): BrowserContextOptions {
  const { screen, viewport } = identity;
  return {
    viewport,
    screen: { width: screen.width, height: screen.height },
    deviceScaleFactor: screen.devicePixelRatio,
    ...regionalOptionsOf(identity),
    userAgent: identity.userAgent,
    serviceWorkers: 'allow',
  };
}

/** What concerns the place alone, for a browser that has its own idea of who it is. */
export function regionalOptionsOf(identity: Identity): BrowserContextOptions {
  const { languages, timeZone, geolocation } = identity;
  return {
    timezoneId: timeZone,
    geolocation,
    permissions: ['geolocation'],
    ...(languages[0] === undefined ? {} : { locale: languages[0] }),
  };
}

/** What each target has to be told besides: the browser's own overrides, and a script where it has none. */
export function targetSetupOf(identity: Identity, secret: string): TargetSetup {
  const { userAgent, languages, platform, clientHints, hardwareConcurrency } = identity;
  const userAgentMetadata = { ...clientHints, formFactors: ['Desktop'] };
  const everywhere: readonly TargetCommand[] = [
    {
      method: 'Emulation.setUserAgentOverride',
      params: { userAgent, acceptLanguage: languages.join(','), platform, userAgentMetadata },
    },
    { method: 'Emulation.setHardwareConcurrencyOverride', params: { hardwareConcurrency } },
  ];
  const source = scriptOf(identity, secret);
  const inDocuments: readonly TargetCommand[] = [
    ...everywhere,
    { method: 'Page.addScriptToEvaluateOnNewDocument', params: { source, runImmediately: true } },
  ];
  const headers = { 'User-Agent': userAgent, 'Accept-Language': identity.acceptLanguage };
  const inWorkers: readonly TargetCommand[] = [
    ...everywhere,
    { method: 'Network.setExtraHTTPHeaders', params: { headers } },
    { method: 'Runtime.evaluate', params: { expression: source } },
  ];
  return {
    commandsFor: (kind) => (kind === 'page' || kind === 'iframe' ? inDocuments : inWorkers),
    headers,
  };
}

function scriptOf({ screen, viewport, ...identity }: Identity, secret: string): string {
  const { platform, userAgent, deviceMemory, videoCard } = identity;
  const { availWidth, availHeight } = screen;
  // Where the desktop has its bar: at the bottom on Windows, at the top elsewhere.
  const top = platform === 'Win32' ? 0 : screen.height - availHeight;
  return disguiseSource({
    secret,
    platform,
    userAgent,
    deviceMemory,
    videoCard,
    screen: { availWidth, availHeight, availLeft: 0, availTop: top },
    // The window reaches from bar to bar: that is how the viewport was chosen.
    window: {
      outerWidth: viewport.width,
      outerHeight: availHeight,
      screenX: 0,
      screenLeft: 0,
      screenY: top,
      screenTop: top,
    },
  });
}

/** What scripts are to find that the browser cannot be told by itself. */
interface ScriptFacts {
  /** No page can know it: names the script in stack traces, and opens the way between frames. */
  readonly secret: string;
  readonly platform: string;
  readonly userAgent: string;
  readonly deviceMemory: number;
  readonly videoCard: { readonly vendor: string; readonly renderer: string };
  /** Values of the properties of `screen`, by name. */
  readonly screen: Readonly<Record<string, number>>;
  /** Values for the place and size of the window, by name. */
  readonly window: Readonly<Record<string, number>>;
}

/** The script for one identity, to be run in every page, frame and worker before anything else. */
function disguiseSource(facts: ScriptFacts): string {
  return `'use strict';(${disguise})(${JSON.stringify(facts)});\n//# sourceURL=${facts.secret}`;
}

/**
 * Runs in the page, so it can use nothing from here. Each property is replaced where the browser has it, on the
 * prototype, by a function that calls the original first: wrong receivers fail as they always did. What a replaced
 * function shows as its source is what the original showed, whichever frame of the page asks.
 */
function disguise(facts: ScriptFacts): void {
  type Callable = (...args: unknown[]) => unknown;
  type Scope = Readonly<Record<string, { readonly prototype: object } | undefined>>;
  const scope = globalThis as unknown as Scope & { readonly parent?: typeof globalThis };
  // Taken before the page can change them.
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const { split } = String.prototype;
  const { includes } = String.prototype;
  const { push, join } = Array.prototype;

  /** An error as the original would have thrown it: without us in its stack. */
  const cleaned = (error: unknown): unknown => {
    const trace = error as { stack?: unknown } | null;
    if (typeof trace?.stack !== 'string') return error;
    const lines = apply(split, trace.stack, ['\n']) as unknown as string[];
    const kept: string[] = [];
    for (let index = 0; index < lines.length; index += 1) {
      if (!apply(includes, lines[index] as string, [facts.secret])) apply(push, kept, [lines[index]]);
    }
    trace.stack = apply(join, kept, ['\n']);
    return error;
  };

  const { toString: sourceOf } = Function.prototype;
  const sources = new WeakMap<object, string>();
  const find = sources.get.bind(sources);
  const keep = sources.set.bind(sources);
  /** How the frame around this one shows sources; frames of other sites can ask us nothing. */
  let above: Callable | null = null;
  try {
    const { parent } = scope;
    if (parent !== undefined && parent !== globalThis) above = parent.Function.prototype.toString as Callable;
  } catch {
    // The parent is the frame of another site, whose functions cannot be read.
  }

  const show = {
    toString(this: unknown, ...args: unknown[]): string {
      if (args[0] === facts.secret) {
        keep(this as object, args[1] as string);
        if (above !== null) apply(above, this, args);
        return '';
      }
      const own = typeof this === 'function' ? find(this) : undefined;
      if (own !== undefined) return own;
      try {
        const text = apply(sourceOf, this as () => void, []) as string;
        return above === null ? text : (apply(above, this, []) as string);
      } catch (error) {
        throw cleaned(error);
      }
    },
  }.toString;

  const stand = (replaced: object, original: Callable): void => {
    const text = apply(sourceOf, original, []) as string;
    defineProperty(replaced, 'length', { value: original.length, configurable: true });
    keep(replaced, text);
    if (above !== null) apply(above, replaced, [facts.secret, text]);
  };

  const change = (
    owner: object | undefined,
    name: string,
    answer: (found: unknown, args: readonly unknown[]) => unknown,
  ): void => {
    const descriptor = owner === undefined ? undefined : getOwnPropertyDescriptor(owner, name);
    const original = (descriptor?.get ?? descriptor?.value) as Callable | undefined;
    if (owner === undefined || descriptor === undefined || typeof original !== 'function') return;
    const ask = (self: unknown, args: readonly unknown[]): unknown => {
      let found: unknown;
      try {
        found = apply(original, self, args);
      } catch (error) {
        throw cleaned(error);
      }
      return answer(found, args);
    };
    if (descriptor.get === undefined) {
      const replaced = {
        [name](this: unknown, ...args: unknown[]): unknown {
          return ask(this, args);
        },
      }[name] as Callable;
      stand(replaced, original);
      defineProperty(owner, name, { ...descriptor, value: replaced });
      return;
    }
    const holder = {
      get [name](): unknown {
        return ask(this, []);
      },
    };
    const replaced = getOwnPropertyDescriptor(holder, name)?.get as Callable;
    stand(replaced, original);
    defineProperty(owner, name, { ...descriptor, get: replaced });
  };
  const set = (owner: object | undefined, values: Readonly<Record<string, unknown>>): void => {
    for (const name of Object.keys(values)) change(owner, name, () => values[name]);
  };

  const plain = getOwnPropertyDescriptor(Function.prototype, 'toString') as PropertyDescriptor;
  stand(show, sourceOf as Callable);
  defineProperty(Function.prototype, 'toString', { ...plain, value: show });

  // A regular Chrome has it only on pages that an extension may be connected to; a driver's own extension gives it to all.
  const { chrome } = globalThis as unknown as { readonly chrome?: object };
  if (chrome !== undefined) deleteProperty(chrome, 'runtime');

  const { platform, userAgent, deviceMemory, videoCard } = facts;
  // Browsers of the pool report false by themselves; a remote browser may not.
  set(scope.Navigator?.prototype, { deviceMemory, platform, webdriver: false });
  set(scope.Screen?.prototype, facts.screen);
  if (scope.Window !== undefined) set(globalThis, facts.window);
  // The browser tells workers less of what it was told than it tells pages.
  const appVersion = userAgent.slice('Mozilla/'.length);
  set(scope.WorkerNavigator?.prototype, { deviceMemory, platform, userAgent, appVersion });

  // UNMASKED_VENDOR_WEBGL and UNMASKED_RENDERER_WEBGL, where the page may ask for them.
  const graphics = (found: unknown, [asked]: readonly unknown[]): unknown => {
    if (typeof found !== 'string') return found;
    return asked === 37_445 ? videoCard.vendor : asked === 37_446 ? videoCard.renderer : found;
  };
  change(scope.WebGLRenderingContext?.prototype, 'getParameter', graphics);
  change(scope.WebGL2RenderingContext?.prototype, 'getParameter', graphics);
}
