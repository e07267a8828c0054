import { isDeepStrictEqual } from 'node:util';
import type { PluginPart } from '../config/plugin-part.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { EngineName, OwnEngineName } from './attempt.ts';
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

const OWN_TRAITS: Readonly<Record<OwnEngineName, EngineTraits>> = {
  http: { cost: 1, runsScripts: false, isRendering: false, isDisguised: false, consent: null },
  browser: { cost: 10, runsScripts: true, isRendering: true, isDisguised: false, consent: null },
  flaresolverr: { cost: 15, runsScripts: true, isRendering: false, isDisguised: true, consent: 'stealth' },
  stealth: { cost: 20, runsScripts: true, isRendering: true, isDisguised: true, consent: 'stealth' },
  firecrawl: { cost: 30, runsScripts: true, isRendering: false, isDisguised: true, consent: 'stealth' },
  replay: { cost: 1, runsScripts: false, isRendering: false, isDisguised: false, consent: null },
};

/**
 * Engines of plug-ins, by name: as many as the plug-ins of this process have. Beside our own they are properties of the
 * program, which many pure decisions ask for by name; plug-ins are loaded before the first of these is made.
 */
const PLUGIN_TRAITS = new Map<string, EngineTraits>();

/** An engine whose plug-in this process does not have, such as one of an attempt that was stored before. */
const UNKNOWN: EngineTraits = {
  cost: 10,
  runsScripts: false,
  isRendering: false,
  isDisguised: false,
  consent: null,
};

export const traitsOf = (engine: EngineName): EngineTraits =>
  OWN_TRAITS[engine as OwnEngineName] ?? PLUGIN_TRAITS.get(engine) ?? UNKNOWN;

/** Throws INVALID_SETTINGS when the process knows an engine of this name with other traits. */
export function registerEngine(name: PluginPart, traits: EngineTraits): void {
  const known = PLUGIN_TRAITS.get(name);
  if (known !== undefined && !isDeepStrictEqual(known, traits)) {
    const message = `Two plug-ins of this process have an engine ${name}, with different traits.`;
    throw new ScrapifieError('INVALID_SETTINGS', message);
  }
  PLUGIN_TRAITS.set(name, traits);
}

/** `auto` is no engine yet: it has none of the traits. */
export const isDisguised = (engine: EngineName | 'auto'): boolean =>
  engine !== 'auto' && traitsOf(engine).isDisguised;

export const isRendering = (engine: EngineName | 'auto'): boolean =>
  engine !== 'auto' && traitsOf(engine).isRendering;

export const runsScripts = (engine: EngineName): boolean => traitsOf(engine).runsScripts;
