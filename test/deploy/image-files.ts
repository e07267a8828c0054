import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { startContainer } from './container.ts';
import { ROOT, readText, stagesOf } from './readers/dockerfile.ts';

/** Folders of a clone that are never a part of what a build is given, and are large. */
const NOT_LOOKED_AT: ReadonlySet<string> = new Set(['node_modules', '.git', '.tools']);

interface Ignored {
  /** Whether the path is kept from the build: the last pattern that fits decides. */
  has(path: string): boolean;
  /**
   * Whether Docker looks into a folder at all. Into one that is ignored it looks only when an exception begins with its
   * name, letter by letter: `!sdk/*\/README.md` leads into `sdk`, and into none of its folders.
   */
  isEntered(folder: string): boolean;
}

/** `.dockerignore` as Docker reads it. */
function readIgnored(text: string): Ignored {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      isException: line.startsWith('!'),
      glob: line.replace(/^!/, ''),
      pattern: patternOf(line.replace(/^!/, '')),
    }));
  const has = (path: string) =>
    rules.reduce(
      (isIgnored, { isException, pattern }) => (pattern.test(path) ? !isException : isIgnored),
      false,
    );
  return {
    has,
    isEntered: (folder) =>
      !has(folder) ||
      rules.some(({ isException, glob }) => isException && `${glob}/`.startsWith(`${folder}/`)),
  };
}

/** A pattern that fits a folder fits all that is in it. */
function patternOf(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(
      /\*\*\/|\*\*|\*|\?/g,
      (sign) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' })[sign] ?? sign,
    );
  return new RegExp(`^${source}(?:/.*)?$`);
}

/** What `COPY . .` takes: the files of this clone that `.dockerignore` lets through. */
export function buildContext(): readonly string[] {
  const ignored = readIgnored(readText('.dockerignore'));
  const found: string[] = [];
  const look = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (NOT_LOOKED_AT.has(entry.name)) continue;
      const name = relative(ROOT, path);
      if (entry.isDirectory()) {
        if (ignored.isEntered(name)) look(path);
      } else if (!ignored.has(name)) found.push(name);
    }
  };
  look(ROOT);
  return found;
}

/**
 * Lays `/app` of the image out in `dir`: runs the build step of the Dockerfile on what the build is given, and puts beside
 * its files the packages that `npm ci --omit=dev` installs. These, and those for the build, are taken from this
 * clone, which has the versions of the same lock file. Returns the folder.
 */
export async function layOutImage(dir: string): Promise<string> {
  const [build, app] = [join(dir, 'build'), join(dir, 'app')];
  for (const path of buildContext()) {
    mkdirSync(dirname(join(build, path)), { recursive: true });
    linkOrCopy(join(ROOT, path), join(build, path));
  }
  // The dashboard is built before the tests; another build of the same sources would show nothing more.
  execFileSync('cp', ['--recursive', join(ROOT, 'dashboard/dist'), join(build, 'dashboard')]);
  mkdirSync(app);
  mkdirSync(join(build, 'node_modules'));
  const [step] = (stagesOf(readText('Dockerfile')).find(({ name }) => name === 'program')?.instructions ?? [])
    .filter(({ keyword, text }) => keyword === 'RUN' && text.includes('scripts/pack.ts'))
    .map(({ text }) => text);
  const container = await startContainer({
    dir,
    command: ['sh', '-c', `${step} && cp -a /app/. /out/`],
    variables: { HOME: '/root' },
    workdir: '/build',
    user: null,
    binds: [
      { from: build, to: '/build', isWritable: true },
      { from: join(ROOT, 'node_modules'), to: '/build/node_modules' },
      { from: app, to: '/out', isWritable: true },
    ],
  });
  if ((await container.ended) !== 0)
    throw new Error(`The build step of the Dockerfile failed:\n${container.output()}`);
  mkdirSync(join(app, 'node_modules'));
  execFileSync(
    'cp',
    ['--archive', '--link', '--parents', ...productionPackages(), join(app, 'node_modules')],
    {
      cwd: join(ROOT, 'node_modules'),
    },
  );
  return app;
}

/** Folders in `node_modules` that `npm ci --omit=dev` makes on this platform. */
function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional }]) =>
        path.lastIndexOf('node_modules/') === 0 && dev !== true && devOptional !== true,
    )
    .map(([path]) => path.slice('node_modules/'.length))
    .filter((name) => existsSync(join(ROOT, 'node_modules', name)));
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
