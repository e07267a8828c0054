// Prints how large the sources are, and in how many files one more entry of a registry would be edited by hand:
// node scripts/measure-sources.ts
import { EXAMPLES, measureSources } from './source-figures.ts';

const { files, lines, topFolders, longFunctions, wayChanges, naming } = measureSources();
const rows: (readonly [string, number, string])[] = [
  ['files in src', files, ''],
  ['lines in src', lines, ''],
  ['top folders in src', topFolders.length, topFolders.join(' ')],
  [
    'functions over 200 lines',
    longFunctions.length,
    longFunctions.map(({ path, name, lines: count }) => `\n    ${count} ${path} ${name}`).join(''),
  ],
  ['files on the way of a URL, those it comes back to again', wayChanges.files, ''],
  ['changes of the top folder on this way', wayChanges.topFolders, ''],
  ['changes of the room, such as src/crawl/host', wayChanges.rooms, ''],
  ...Object.entries(naming).map(
    ([what, paths]) =>
      [
        `files that name the ${what} ${EXAMPLES[what as keyof typeof EXAMPLES]}`,
        paths.length,
        paths.map((path) => `\n    ${path}`).join(''),
      ] as const,
  ),
];
for (const [what, count, which] of rows) console.log(`${what}: ${count}  ${which}`);
