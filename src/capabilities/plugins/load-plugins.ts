import { pathToFileURL } from 'node:url';
import { PART_NAME, PLUGIN_NAME, type PluginPart, pluginPaths } from '../../core/config/plugin-part.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { TypeSpec } from '../../extract/types/draft.ts';
import { TYPES, type TypeSpecs } from '../../extract/types/extract-typed.ts';
import { FIELD_READERS } from '../../extract/types/field.ts';
import type { EnginePlugin } from '../../fetch/plugin/plugin-engine.ts';
import type { Deliverer, Deliverers } from '../webhooks/deliverer.ts';
import type { Plugin } from './index.ts';

/** What the plug-ins of a process offer, by full names. */
export interface LoadedPlugins {
  /** The types of Scrapifie, and after them those of plug-ins. */
  readonly types: TypeSpecs;
  readonly deliverers: Deliverers;
  readonly engines: ReadonlyMap<PluginPart, EnginePlugin>;
}

/** How long a module may take to load. One that waits at its top level for ever would end the process without an error. */
const LOAD_MS = 20_000;

/** Loads the modules of the setting. Throws INVALID_SETTINGS for one that cannot be loaded or is no plug-in. */
export async function loadPlugins(setting: string, limitMs = LOAD_MS): Promise<LoadedPlugins> {
  const loaded: Loading = { types: { ...TYPES }, deliverers: new Map(), engines: new Map() };
  const names = new Set<string>();
  for (const path of pluginPaths(setting)) {
    const module = await importWithin(path, limitMs);
    try {
      const plugin = pluginOf(path, module);
      if (names.has(plugin.name)) throw wrong(path, `another plug-in is called ${plugin.name}`);
      names.add(plugin.name);
      addParts(path, plugin, loaded);
    } catch (error) {
      // Properties of foreign objects may be getters, which may throw.
      throw error instanceof ScrapifieError ? error : wrong(path, `cannot be read: ${wordsOf(error)}`, error);
    }
  }
  return loaded;
}

interface Loading extends LoadedPlugins {
  readonly types: Record<string, TypeSpec>;
  readonly deliverers: Map<string, Deliverer>;
  readonly engines: Map<PluginPart, EnginePlugin>;
}

function addParts(path: string, plugin: Plugin, { types, deliverers, engines }: Loading): void {
  for (const [part, type] of partsOf(path, plugin, 'extractors')) {
    checkType(path, type);
    types[part] = { ...type, weigh: type.weigh.bind(type), read: type.read.bind(type), name: part };
  }
  for (const [part, deliverer] of partsOf(path, plugin, 'deliverers')) {
    if (typeof deliverer.send !== 'function')
      throw wrong(path, `${deliverer.name}: \`send\` must be a function`);
    deliverers.set(part, deliverer);
  }
  for (const [part, engine] of partsOf(path, plugin, 'engines')) {
    checkEngine(path, engine);
    engines.set(part, engine);
  }
}

async function importWithin(path: string, limitMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const told = `is not loaded after ${limitMs / 1_000} s; its top level waits for something that does not come`;
    timer = setTimeout(() => reject(wrong(path, told)), limitMs);
  });
  const imported = import(pathToFileURL(path).href).catch((error: unknown) => {
    throw wrong(path, `cannot be loaded: ${wordsOf(error)}`, error);
  });
  try {
    return await Promise.race([imported, late]);
  } finally {
    clearTimeout(timer);
  }
}

function pluginOf(path: string, module: unknown): Plugin {
  const plugin = (module as { readonly default?: unknown }).default;
  if (!isObject(plugin)) throw wrong(path, 'has no default export; it should be definePlugin({ … })');
  const { name, ...rest } = plugin;
  if (typeof name !== 'string' || !PLUGIN_NAME.test(name)) {
    throw wrong(path, '`name` must be lower-case letters, digits and dashes, beginning with a letter');
  }
  const unknown = Object.keys(rest).filter((key) => !PARTS.includes(key as PartKind));
  if (unknown.length > 0) throw wrong(path, `offers ${unknown.join(', ')}, which nothing uses`);
  return plugin as unknown as Plugin;
}

const PARTS = ['extractors', 'deliverers', 'engines'] as const;
const ABILITIES: readonly unknown[] = ['messages', 'proxies'];
type PartKind = (typeof PARTS)[number];

/** The parts of one kind, by full name. */
function partsOf<K extends PartKind>(
  path: string,
  plugin: Plugin,
  kind: K,
): readonly (readonly [PluginPart, NonNullable<Plugin[K]>[number]])[] {
  const parts: unknown = plugin[kind] ?? [];
  if (!Array.isArray(parts)) throw wrong(path, `\`${kind}\` must be a list`);
  const seen = new Set<string>();
  return parts.map((part: unknown) => {
    const name = isObject(part) ? part.name : undefined;
    if (typeof name !== 'string' || !PART_NAME.test(name) || seen.has(name)) {
      throw wrong(path, `each of \`${kind}\` needs a \`name\` of its own, in lower case`);
    }
    seen.add(name);
    return [`${plugin.name}:${name}`, part as NonNullable<Plugin[K]>[number]] as const;
  });
}

function checkType(path: string, { name, fields, weigh, read }: TypeSpec): void {
  if (!isObject(fields)) throw wrong(path, `${name}: \`fields\` must be an object`);
  for (const [field, spec] of Object.entries<unknown>(fields)) {
    const kind = isObject(spec) ? String(spec.kind) : '';
    if (!Object.hasOwn(FIELD_READERS, kind)) {
      const known = Object.keys(FIELD_READERS).join(', ');
      throw wrong(path, `${name}: the kind of \`${field}\` must be one of ${known}`);
    }
  }
  if (typeof weigh !== 'function' || typeof read !== 'function') {
    throw wrong(path, `${name}: \`weigh\` and \`read\` must be functions`);
  }
}

function checkEngine(path: string, engine: EnginePlugin): void {
  const { name, cost, runsScripts, isDisguised, abilities = [], open } = engine;
  const problem =
    typeof cost !== 'number' || !(cost >= 1 && cost <= MOST_COST)
      ? `\`cost\` must be a number from 1 to ${MOST_COST}`
      : typeof runsScripts !== 'boolean' || typeof isDisguised !== 'boolean'
        ? '`runsScripts` and `isDisguised` must be true or false'
        : !Array.isArray(abilities) || abilities.some((each) => !ABILITIES.includes(each))
          ? `\`abilities\` must be a list of ${ABILITIES.join(', ')}`
          : typeof open !== 'function'
            ? '`open` must be a function'
            : null;
  if (problem !== null) throw wrong(path, `${name}: ${problem}`);
}

const MOST_COST = 1_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const wrong = (path: string, problem: string, cause?: unknown): ScrapifieError =>
  new ScrapifieError('INVALID_SETTINGS', `The plug-in ${path}: ${problem}.`, { cause });
