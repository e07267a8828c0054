import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { problemsOf } from '../deploy/deployment.ts';
import { terraformDeployment } from '../deploy/readers/terraform.ts';
import { type Block, readModule, type TerraformModule } from './terraform-module.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULE = join(ROOT, 'deploy/terraform/aws/');
const EXAMPLES = readdirSync(join(MODULE, 'examples')).sort();
const aws = await readModule(MODULE);
const examples = await Promise.all(
  EXAMPLES.map(async (name) => ({ name, ...(await readModule(join(MODULE, 'examples', name))) })),
);
const namesOf = ({ declared }: TerraformModule, kind: string): string[] =>
  [...declared.keys()]
    .filter((name) => name.startsWith(`${kind}.`))
    .map((name) => name.slice(kind.length + 1));
const isRequired = (variable: Block | undefined): boolean =>
  variable !== undefined && !('default' in variable);

describe.each([{ name: 'the module', ...aws }, ...examples])('$name', (module) => {
  it('refers to nothing that is not declared', () => {
    const unknown = module.references.filter(({ to }) => !module.declared.has(to));
    expect(unknown).toEqual([]);
    expect(module.references.length).toBeGreaterThan(5);
  });

  it('uses every variable, local value and data source that it declares', () => {
    const used = new Set(module.references.map(({ to }) => to));
    const unused = [...module.declared.keys()].filter(
      (name) => /^(?:var|local|data)\./.test(name) && !used.has(name),
    );
    expect(unused).toEqual([]);
  });

  it('describes every variable and output, and gives each variable a type', () => {
    for (const [name, block] of module.declared) {
      if (!/^(?:var|output)\./.test(name)) continue;
      expect(block.description, name).toMatch(/\.$|…$/);
      if (name.startsWith('var.')) expect(block.type, name).toBeDefined();
    }
  });

  it('is indented as terraform fmt would do it', () => {
    const files = readdirSync(module.folder).filter((file) => file.endsWith('.tf'));
    for (const file of files) {
      const text = readFileSync(join(module.folder, file), 'utf8');
      expect(text, file).not.toMatch(/\t|[ ]+$|\n\n\n/m);
      expect(text.endsWith('\n') && !text.endsWith('\n\n'), file).toBe(true);
    }
  });
});

it('services are scaled by metrics that the program has', () => {
  const observed = globSync('src/core/observe/**/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const used = [...readFileSync(join(MODULE, 'autoscaling.tf'), 'utf8').matchAll(/scrapifie_[a-z_]+[a-z]/g)];
  expect(used.length).toBeGreaterThan(0);
  for (const [metric] of used)
    expect(
      observed.some((text) => text.includes(`'${metric}'`)),
      metric,
    ).toBe(true);
});

describe('an example', () => {
  it('small starts what every fleet needs; only disguised browsers are left out', async () => {
    // test/deploy/deployments.test.ts asks the same of the other one.
    expect(problemsOf(await terraformDeployment('small'))).toEqual([
      'no process has the role stealth-worker',
    ]);
  });

  it.each(examples)(
    '$name gives the module what it needs, and nothing that it does not know',
    ({ declared }) => {
      const given = Object.keys(declared.get('module.scrapifie') ?? {}).filter((name) => name !== 'source');
      const variables = namesOf(aws, 'var');
      expect(given.filter((name) => !variables.includes(name))).toEqual([]);
      const required = variables.filter((name) => isRequired(aws.declared.get(`var.${name}`)));
      expect(required.filter((name) => !given.includes(name))).toEqual([]);
      expect(required).toContain('image');
    },
  );

  it.each(examples)('$name reads outputs that the module has', ({ folder }) => {
    const text = readFileSync(join(folder, 'main.tf'), 'utf8');
    const read = [...text.matchAll(/module\.scrapifie\.(\w+)/g)].map(([, name = '']) => name);
    expect(read.filter((name) => !namesOf(aws, 'output').includes(name))).toEqual([]);
    expect(read).toContain('url');
  });

  it.each(examples)('$name has the variables that the workflow gives it', ({ name, declared }) => {
    const workflow = readFileSync(new URL('../../.github/workflows/deploy.yml', import.meta.url), 'utf8');
    const given = new Set([...workflow.matchAll(/TF_VAR_(\w+):/g)].map(([, variable]) => variable));
    const required = namesOf({ ...aws, declared }, 'var').filter((each) =>
      isRequired(declared.get(`var.${each}`)),
    );
    expect(
      required.filter((each) => !given.has(each)),
      name,
    ).toEqual([]);
  });
});
