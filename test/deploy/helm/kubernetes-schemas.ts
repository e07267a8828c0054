import type { Manifest } from './engine.ts';

/** Packages with the OpenAPI schemas of Kubernetes and of operators, as compiled validators, by group. */
const PACKAGES: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'keda.sh': '@kubernetes-models/keda',
  'external-secrets.io': '@kubernetes-models/external-secrets',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
};

interface Model {
  readonly prototype: { validate(): void };
}

/**
 * What the schema of its kind says against an object; empty when the API would take it. Strict, as `kubectl --validate=strict`
 * is: a field that the schema does not know is a problem. So is null, which the API takes for a field that is missing: a
 * template that leaves it has forgotten a value.
 */
export async function schemaProblems(manifest: Manifest): Promise<readonly string[]> {
  const { apiVersion, kind, metadata } = manifest;
  const model = await modelOf(apiVersion, kind);
  const name = `${kind}/${metadata?.name}`;
  if (model === null) return [`${name}: there is no schema for ${apiVersion}`];
  const read = new Map<object, Set<string>>();
  const problems: string[] = [];
  try {
    model.prototype.validate.call(watched(manifest, read));
  } catch (error) {
    problems.push((error as Error).message);
  }
  problems.push(...unreadFields(manifest, read, ''));
  return problems.map((problem) => `${name}: ${problem}`);
}

async function modelOf(apiVersion: string, kind: string): Promise<Model | null> {
  const [group = ''] = apiVersion.split('/');
  const module = `${PACKAGES[group] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
  try {
    const found = (await import(module)) as Readonly<Record<string, Model>>;
    return found[kind] ?? null;
  } catch {
    return null;
  }
}

/** The value, noting for each object in it which fields are read. A compiled schema reads those that it knows. */
function watched<T>(value: T, read: Map<object, Set<string>>): T {
  if (typeof value !== 'object' || value === null) return value;
  const fields = read.get(value) ?? new Set<string>();
  read.set(value, fields);
  return new Proxy(value, {
    get(target, field) {
      if (typeof field === 'string') fields.add(field);
      return watched(Reflect.get(target, field), read);
    },
  }) as T;
}

function unreadFields(value: unknown, read: Map<object, Set<string>>, path: string): readonly string[] {
  if (value === null) return [`${path} is null`];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    const place = `${path}/${field}`;
    if (!Array.isArray(value) && read.get(value)?.has(field) !== true)
      return [`${place} is not in the schema`];
    return unreadFields(inner, read, place);
  });
}
