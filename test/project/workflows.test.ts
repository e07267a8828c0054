import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = new URL('./node_modules/', import.meta.url);
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT }).sort();

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: unknown;
  readonly 'timeout-minutes'?: number;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}
interface Workflow {
  readonly name: string;
  readonly permissions?: unknown;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}
const workflows = WORKFLOWS.map((file) => ({ file, workflow: parse(read(file)) as Workflow }));
const jobs = workflows.flatMap(({ file, workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ where: `${file}, ${name}`, job })),
);
const steps = jobs.flatMap(({ where, job }) => (job.steps ?? []).map((step) => ({ where, step })));

interface LanguageService {
  validate(
    document: object,
    config: object,
  ): Promise<{ message: string; range: { start: { line: number } } }[]>;
}

/** The service that GitHub's own editors check workflows with: syntax, expressions, needs, inputs of called workflows. */
async function problemsOf(file: string, text: string): Promise<string[]> {
  // Its modules import JSON the way bundlers allow it; Node.js wants to be told the type.
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      return specifier.endsWith('.json') ? { ...resolved, importAttributes: { type: 'json' } } : resolved;
    },
  });
  onTestFinished(() => hooks.deregister());
  const service = (await import(
    new URL('@actions/languageservice/dist/index.js', PACKAGES).href
  )) as LanguageService;
  const { TextDocument } = createRequire(PACKAGES)('vscode-languageserver-textdocument') as {
    TextDocument: { create(uri: string, language: string, version: number, text: string): object };
  };
  const document = TextDocument.create(`file:///${file}`, 'yaml', 0, text);
  const getFileContent = async ({ path }: { path: string }) => ({ name: path, content: read(path) });
  const problems = await service.validate(document, { fileProvider: { getFileContent } });
  return problems.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

describe('workflows', () => {
  it.each(WORKFLOWS)('%s has no problem that GitHub would find', async (file) => {
    expect(await problemsOf(file, read(file))).toEqual([]);
  });

  it('are really looked at', async () => {
    const [file = ''] = WORKFLOWS;
    const wrong = read(file).replace('runs-on:', 'needs: nothing\n    ruins-on:');
    // By another name: what was parsed under a name is kept.
    expect(await problemsOf('.github/workflows/wrong.yml', wrong)).toEqual(
      expect.arrayContaining([expect.stringContaining('nothing'), expect.stringContaining('ruins-on')]),
    );
  });

  it('name every action by its commit, with the version beside it', () => {
    for (const file of WORKFLOWS) {
      for (const [, action = ''] of read(file).matchAll(/^\s*(?:- )?uses: (.*)$/gm)) {
        expect(action, file).toMatch(
          /^(?:\.\/\.github\/workflows\/[\w-]+\.yml|[\w-]+(?:\/[\w.-]+)+@[0-9a-f]{40} # v[\d.]+)$/,
        );
      }
    }
  });

  it('name the same commit for the same action everywhere', () => {
    const commits = Map.groupBy(
      steps.flatMap(({ step }) => (step.uses === undefined ? [] : [step.uses])),
      (uses) => uses.split('@')[0]?.split('/').slice(0, 2).join('/'),
    );
    for (const [action, found] of commits) {
      expect(new Set(found.map((uses) => uses.split('@')[1])).size, action).toBe(1);
    }
  });

  it('have the least rights: none or reading for the workflow, more for single jobs', () => {
    for (const { file, workflow } of workflows) {
      expect([{}, { contents: 'read' }], file).toContainEqual(workflow.permissions);
      expect(workflow.concurrency, file).toBeDefined();
    }
    for (const { where, job } of jobs) {
      if (job.uses === undefined) expect(job['timeout-minutes'], where).toBeGreaterThan(0);
      expect(job.permissions, where).not.toBe('write-all');
    }
  });

  it('keep no credentials in the checkout', () => {
    for (const { where, step } of steps) {
      if (step.uses?.startsWith('actions/checkout@')) {
        expect(step.with, where).toMatchObject({ 'persist-credentials': false });
      }
    }
  });

  it('put nothing that others write into a script', () => {
    // An expression is replaced before the shell reads the text; values come through the environment instead.
    for (const { where, step } of steps) expect(step.run ?? '', where).not.toContain('${{');
  });

  it('run targets of the Makefile and files that exist', () => {
    const targets = new Set([...read('Makefile').matchAll(/^([a-z]+):/gm)].map(([, target]) => target));
    for (const { where, step } of steps) {
      for (const [, list = ''] of (step.run ?? '').matchAll(/\bmake ((?:[a-z]+\b ?)+)/g)) {
        for (const target of list.trim().split(' '))
          expect(targets.has(target), `${where}: ${target}`).toBe(true);
      }
      for (const [path] of (step.run ?? '').matchAll(/\b(?:scripts|sdk|deploy)\/[\w/.-]*[\w]/g)) {
        expect(existsSync(join(ROOT, path)), `${where}: ${path}`).toBe(true);
      }
    }
  });
});

describe('other files for GitHub', () => {
  it('have the shape of their schemas', { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'scrapifie-forms-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const types = (name: string) => fileURLToPath(new URL(`@schemastore/${name}/index.d.ts`, PACKAGES));
    const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: ROOT }).filter(
      (file) => !file.endsWith('config.yml'),
    );
    const typed = (type: string, file: string, at: number) =>
      `export const c${at}: ${type} = ${JSON.stringify(parse(read(file)))};`;
    writeFileSync(
      join(folder, 'files.ts'),
      [
        `import type { GitHubDependabotV2Config as Dependabot } from '${types('dependabot-2.0')}';`,
        `import type { GitHubIssueFormsConfigFileSchema as Form } from '${types('github-issue-forms')}';`,
        `import type { GitHubIssueTemplateChooserConfigFileSchema as Chooser } from '${types('github-issue-config')}';`,
        typed('Dependabot', '.github/dependabot.yml', 0),
        typed('Chooser', '.github/ISSUE_TEMPLATE/config.yml', 99),
        ...forms.map((file, at) => typed('Form', file, at + 1)),
      ].join('\n'),
    );
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig'];
    const { stdout } = spawnSync(tsc, [...options, 'files.ts'], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  it('have folders that exist, and every lock file among them', () => {
    const { updates } = parse(read('.github/dependabot.yml')) as {
      updates: { 'package-ecosystem': string; directory?: string; directories?: string[] }[];
    };
    const npm = updates.find((each) => each['package-ecosystem'] === 'npm')?.directories ?? [];
    const locks = globSync('**/package.json', {
      cwd: ROOT,
      exclude: (name) => /node_modules|^\.|dist/.test(String(name)),
    })
      .filter((file) => existsSync(join(ROOT, file, '../package-lock.json')) || file.startsWith('sdk/'))
      .map((file) => `/${file.replace(/\/?package\.json$/, '')}`);
    expect(npm).toEqual(expect.arrayContaining(locks));
    for (const { directory, directories = [] } of updates) {
      for (const each of [...directories, ...(directory === undefined ? [] : [directory])]) {
        expect(globSync(join(ROOT, each)).length, each).toBeGreaterThan(0);
      }
    }
  });
});
