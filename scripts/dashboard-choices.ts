import {
  EXPORT_FORMATS,
  EXPORT_TYPES,
  exportFormatSpec,
  exportTypeSpec,
} from '../src/model/export-registry.ts';

/** The lists that forms of the dashboard offer, from the registries of the program: the text of dashboard/src/api/choices.ts. */
export function dashboardChoices(): string {
  return [
    '// Written by scripts/write-docs.ts from the registries of the program. Do not edit.',
    constant('EXPORT_TYPES', 'What an export can hold.', exportTypes()),
    constant('EXPORT_FORMATS', 'How an export can be written, and from what.', exportFormats()),
  ].join('\n\n');
}

const exportTypes = () =>
  EXPORT_TYPES.map((value) => {
    const { label, sentence: about, isOfTwoJobs = false } = exportTypeSpec(value);
    return { value, label, about, isOfTwoJobs };
  });

const exportFormats = () =>
  EXPORT_FORMATS.map((value) => {
    const { label, takes } = exportFormatSpec(value);
    return { value, label, takes };
  });

function constant(name: string, about: string, entries: readonly object[]): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)},`);
  return [`/** ${about} */`, `export const ${name} = [`, ...lines, '] as const;', ''].join('\n');
}
