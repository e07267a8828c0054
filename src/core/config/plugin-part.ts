import { z } from 'zod';

/** The name of what a plug-in offers: that of the plug-in, a colon, and that of the part, such as `wine:bottle`. */
export type PluginPart = `${string}:${string}`;

export const PLUGIN_NAME = /^[a-z][a-z0-9-]{0,39}$/;
export const PART_NAME = /^[a-z][a-z0-9_-]{0,39}$/;

export const pluginPart = z.templateLiteral([
  z.string().regex(PLUGIN_NAME),
  ':',
  z.string().regex(PART_NAME),
]);

export const isPluginPart = (name: string): name is PluginPart => pluginPart.safeParse(name).success;

/** The modules that the setting names, in its order. */
export const pluginPaths = (setting: string): readonly string[] =>
  setting
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '');
