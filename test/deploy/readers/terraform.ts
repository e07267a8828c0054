import { join } from 'node:path';
import { type Block, readModule, type TerraformModule } from '../../project/terraform-module.ts';
import { type DeployedProcess, type Deployment, sampleSecret } from '../deployment.ts';
import { imageConfig, ROOT, readText, stagesOf } from './dockerfile.ts';

const MODULE = 'deploy/terraform/aws';

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
}
interface ModuleCall {
  readonly services?: Readonly<Record<string, Service>>;
  readonly settings?: Readonly<Record<string, string>>;
}

/** What AWS, or the caller of the module, would give these. */
const SAMPLES: Readonly<Record<string, string>> = {
  'local.region': 'eu-central-1',
  'local.public_url': 'https://scrape.example.com',
  'var.contact': 'https://example.com/bot',
  'aws_s3_bucket.this.bucket': 'scrapifie-20260101',
  'aws_db_instance.this.username': 'scrapifie',
  'aws_db_instance.this.endpoint': 'database.example.com:5432',
  'aws_db_instance.this.db_name': 'scrapifie',
  'aws_elasticache_replication_group.this.primary_endpoint_address': 'redis.example.com',
  'random_password.database.result': 'secret',
  'random_password.redis.result': 'secret',
};

/**
 * The tasks that an example of the module makes. Expressions are not evaluated as Terraform would: the entries of the maps
 * that become variables and secrets are read one by one, and a reference without a sample above is an error.
 */
export async function terraformDeployment(example: string): Promise<Deployment> {
  const module = await readModule(join(ROOT, MODULE));
  const caller = await readModule(join(ROOT, MODULE, 'examples', example));
  const call = blockOf(caller, 'module.scrapifie') as ModuleCall;
  const services = call.services ?? (blockOf(module, 'var.services').default as ModuleCall['services']);
  const task = textOf(module, 'aws_ecs_task_definition.this', 'container_definitions');
  const processes = Object.entries(services ?? {}).map(([role, service]) => {
    const variables = {
      ...Object.fromEntries(
        entriesOf(module, 'local.environment').map(([name, text]) => [name, resolved(module, text)]),
      ),
      ...secretsOf(module),
      ...call.settings,
      ...service.environment,
      SCRAPIFIE_ROLE: role,
    };
    return processOf(module, role, variables, task);
  });
  return { name: `${MODULE}/examples/${example}`, processes };
}

function processOf(
  module: TerraformModule,
  role: string,
  variables: Readonly<Record<string, string>>,
  task: string,
): DeployedProcess {
  const isRendering = (blockOf(module, 'local.render_roles').value as string[]).includes(role);
  const image = imageConfig(stagesOf(readText('Dockerfile')), isRendering ? 'browser' : 'slim');
  const mounts = Object.entries(blockOf(module, 'local.mounts').value as Record<string, string>);
  const [, readOnly] = /readOnly = name == "(\w+)" \}\]\n/.exec(task) ?? [];
  const health = resolved(module, JSON.stringify(blockOf(module, 'local.health_check').value));
  const [balanced] = blockOf(module, 'aws_lb_target_group.api').health_check as [{ path: string }];
  return {
    name: role,
    args: image.command,
    variables: { ...image.variables, ...variables },
    secretFiles: [],
    writable: mounts.flatMap(([name, path]) => (name === readOnly ? [] : [path])),
    readable: mounts.flatMap(([name, path]) => (name === readOnly ? [path] : [])),
    isReadOnly: /readonlyRootFilesystem = true/.test(task),
    user: image.user,
    hasBrowser: isRendering,
    ports: [
      Number(/127\.0\.0\.1:(\d+)/.exec(health)?.[1]),
      Number(resolved(module, /containerPort = ([\w.]+)/.exec(task)?.[1] ?? '')),
    ],
    httpPaths: [/:\d+(\/\w+)/.exec(health)?.[1] ?? '', ...(role === 'api' ? [balanced.path] : [])],
    graceMs: Number(/stopTimeout = (\d+)/.exec(task)?.[1]) * 1_000,
  };
}

/** Secrets by the names of their settings, with the texts that the module stores. */
function secretsOf(module: TerraformModule): Readonly<Record<string, string>> {
  const found = entriesOf(module, 'local.secrets').map(([name, reference]) => {
    const [, secret = ''] = /^aws_secretsmanager_secret\.(\w+)\.arn$/.exec(reference) ?? [];
    if (!module.declared.has(`aws_secretsmanager_secret_version.${secret}`))
      throw new Error(`${name} has no value.`);
    const text = textOf(module, `aws_secretsmanager_secret_version.${secret}`, 'secret_string');
    if (!text.includes('://')) return [name, sampleSecret(name)];
    const url = new URL(resolved(module, JSON.stringify(text)));
    // The file is made by the first container of the task.
    const certificates = url.searchParams.get('sslrootcert');
    if (certificates !== null && !textOf(module, 'local.prepare', 'value').includes(`>${certificates} `)) {
      throw new Error(`No container writes ${certificates}.`);
    }
    url.searchParams.delete('sslrootcert');
    return [name, url.href];
  });
  return Object.fromEntries(found);
}

function blockOf({ declared }: TerraformModule, name: string): Block {
  const block = declared.get(name);
  if (block === undefined) throw new Error(`The module has no ${name}.`);
  return block;
}

const textOf = (module: TerraformModule, name: string, argument: string): string => {
  const value = blockOf(module, name)[argument];
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** The lines `NAME = expression` of a map that an expression has in it. */
const entriesOf = (module: TerraformModule, name: string): (readonly [string, string])[] =>
  [...textOf(module, name, 'value').matchAll(/^\s+([A-Z][A-Z0-9_]*)\s+= (.*)$/gm)].map(
    ([, key = '', text = '']) => [key, text] as const,
  );

/** A text with references in it, or a single reference. */
function resolved(module: TerraformModule, expression: string): string {
  const bare = expression.replace(/^tostring\((.*)\)$/, '$1');
  if (!bare.startsWith('"')) return sampleOf(module, bare);
  return (JSON.parse(bare) as string).replaceAll(/\$\{([\w.]+)\}/g, (_, reference: string) =>
    sampleOf(module, reference),
  );
}

function sampleOf({ declared }: TerraformModule, reference: string): string {
  const { value, default: given } = declared.get(reference) ?? {};
  const known = SAMPLES[reference] ?? value ?? given;
  if (typeof known !== 'string' && typeof known !== 'number') throw new Error(`No sample for ${reference}.`);
  return String(known);
}
