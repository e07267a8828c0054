import type { EngineName } from './attempt.ts';
import type { Consent } from './policy.ts';

/** The properties by which engines differ, for every part of the program that chooses, allows or refuses one. */
export interface EngineTraits {
  /** Cost of one page, in fetches over plain HTTP. Engines are tried in the order of their cost. */
  readonly cost: number;
  readonly runsScripts: boolean;
  /** Renders pages with a Chromium of Scrapifie: on this machine, or in a render worker. */
  readonly isRendering: boolean;
  /** Always appears as a visitor's browser, whatever identity was requested. */
  readonly isDisguised: boolean;
  /** The consent of the operator without which the engine is not used on a host; null: none is needed. */
  readonly consent: Consent | null;
}

export const ENGINE_TRAITS: Readonly<Record<EngineName, EngineTraits>> = {
  http: { cost: 1, runsScripts: false, isRendering: false, isDisguised: false, consent: null },
  browser: { cost: 10, runsScripts: true, isRendering: true, isDisguised: false, consent: null },
  flaresolverr: { cost: 15, runsScripts: true, isRendering: false, isDisguised: true, consent: 'stealth' },
  stealth: { cost: 20, runsScripts: true, isRendering: true, isDisguised: true, consent: 'stealth' },
  replay: { cost: 1, runsScripts: false, isRendering: false, isDisguised: false, consent: null },
};

/** `auto` is no engine yet: it has none of the traits. */
export const isDisguised = (engine: EngineName | 'auto'): boolean =>
  engine !== 'auto' && ENGINE_TRAITS[engine].isDisguised;

export const isRendering = (engine: EngineName | 'auto'): boolean =>
  engine !== 'auto' && ENGINE_TRAITS[engine].isRendering;

export const runsScripts = (engine: EngineName): boolean => ENGINE_TRAITS[engine].runsScripts;
