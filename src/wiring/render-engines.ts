import type { Settings } from '../config/settings.ts';
import { createBrowserEngine } from '../fetch/browser/browser-engine.ts';
import { type BrowserRig, createBrowserRig } from '../fetch/browser/browser-rig.ts';
import type { RenderLimits } from '../fetch/browser/memory-budget.ts';
import { createAntiCaptcha } from '../fetch/captcha/anti-captcha.ts';
import { type CaptchaService, createCaptchaService } from '../fetch/captcha/captcha-solvers.ts';
import { createPuzzleHook } from '../fetch/captcha/puzzle-hook.ts';
import { createTwoCaptcha } from '../fetch/captcha/two-captcha.ts';
import type { Engine } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { createStealthEngine } from '../fetch/stealth/stealth-engine.ts';
import { userAgentFor } from '../fetch/user-agent.ts';
import { VERSION } from '../version.ts';

/**
 * The engines that show pages. This file brings the library that drives browsers, which takes longer to load than all
 * the rest together: it is imported when the first page is to be shown.
 */
export interface RenderEngines {
  engine(name: RenderName): Engine;
  close(): Promise<void>;
}

export interface RenderEnginesOptions {
  readonly settings: Settings;
  readonly executablePath: string | null;
  readonly limits: Partial<RenderLimits>;
}

export function createRenderEngines(options: RenderEnginesOptions): RenderEngines {
  const { settings, executablePath, limits } = options;
  const { allowPrivate, contact, remoteBrowserUrl } = settings;
  const userAgent = userAgentFor(VERSION, contact ?? null);
  const solvers = solversFor(settings);
  const pageLimits = { maxPageBytes: settings.maxRenderBytes };
  const afterLoad = solvers.isSetUp ? createPuzzleHook({ solver: solvers }) : undefined;
  /** Both kinds of pages count against the same limits. */
  let shared: BrowserRig | null = null;
  const ownRig = () => {
    shared ??= createBrowserRig({ executablePath, allowPrivate, ...limits });
    return shared;
  };
  const stealthRig = () =>
    remoteBrowserUrl === undefined
      ? ownRig()
      : createBrowserRig({
          executablePath: null,
          remote: { url: remoteBrowserUrl },
          allowPrivate,
          ...limits,
        });
  const makers: Readonly<Record<RenderName, () => Engine>> = {
    browser: () =>
      createBrowserEngine({ rig: ownRig(), userAgent, limits: pageLimits, hooks: { afterLoad } }),
    stealth: () => createStealthEngine({ rig: stealthRig(), userAgent, limits: pageLimits, afterLoad }),
  };
  const made = new Map<RenderName, Engine>();

  return {
    engine(name) {
      const engine = made.get(name) ?? makers[name]();
      made.set(name, engine);
      return engine;
    },
    async close() {
      for (const engine of made.values()) await engine.close();
      await solvers.close();
    },
  };
}

function solversFor(settings: Settings): CaptchaService {
  const { captchaKey, captchaUrl, antiCaptchaKey, antiCaptchaUrl } = settings;
  return createCaptchaService({
    primary: captchaKey === undefined ? null : createTwoCaptcha({ key: captchaKey, url: captchaUrl }),
    fallback:
      antiCaptchaKey === undefined ? null : createAntiCaptcha({ key: antiCaptchaKey, url: antiCaptchaUrl }),
  });
}
