/**
 * Returns the URL of a module beside the one that asks, named as in the sources (`./thread.ts`): the built package has
 * `.js` in its place. Threads and child processes begin with a file, which no import statement names.
 */
export const siblingModule = (name: `./${string}.ts`, importer: string): URL =>
  new URL(importer.endsWith('.ts') ? name : name.replace(/\.ts$/, '.js'), importer);
