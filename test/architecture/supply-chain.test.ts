import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type LockFile, nameOf } from '../../scripts/lock-file.ts';
import { releaseProblems } from '../../scripts/release-problems.ts';
import { signatureVerdict } from '../../scripts/signature-verdict.ts';
import { stagesOf } from '../deploy/readers/dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}
interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

describe('the list of what the program is made of', () => {
  const recipe = /npm (sbom .*) >/.exec(read('Makefile'))?.[1]?.split(' ') ?? [];
  const sbom = JSON.parse(execFileSync('npm', recipe, { cwd: root, encoding: 'utf8' })) as Sbom;
  const lock: LockFile = JSON.parse(read('package-lock.json'));

  it('has every package of the lock file, with its hash', () => {
    const listed = new Map(sbom.components.map((each) => [`${each.name}@${each.version}`, each]));
    const wanted = Object.entries(lock.packages).filter(([path]) => path !== '');
    for (const [path, { version, integrity }] of wanted) {
      const component = listed.get(`${nameOf(path)}@${version}`);
      expect(component, path).toBeDefined();
      if (integrity === undefined) continue;
      const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
      expect(component?.hashes, path).toContainEqual({ alg: 'SHA-512', content });
    }
    expect(listed.size).toBe(new Set(wanted.map(([path, { version }]) => `${nameOf(path)}@${version}`)).size);
  });

  it('is a CycloneDX document whose references lead somewhere', () => {
    expect(sbom.bomFormat).toBe('CycloneDX');
    expect(sbom.specVersion).toMatch(/^1\.[5-9]$/);
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(sbom.metadata.component['bom-ref']).toMatch(/^scrapifie@/);
    expect(sbom.metadata.component.type).toBe('application');
    const refs = new Set([sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref']));
    expect(refs.size).toBe(sbom.components.length + 1);
    for (const { purl, type } of sbom.components) {
      expect(purl).toMatch(/^pkg:npm\/.+@.+/);
      expect(type).toBe('library');
    }
    for (const { ref, dependsOn = [] } of sbom.dependencies) {
      for (const each of [ref, ...dependsOn]) expect(refs.has(each), each).toBe(true);
    }
  });
});

describe('a release', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;

  it('is refused without the digest of its base image', () => {
    expect(releaseProblems({ image: `node:24-slim@${digest}`, unverified: [] })).toEqual([]);
    for (const image of ['', 'node:24-slim', 'node:24-slim@sha256:abc', `@${digest}`, digest]) {
      expect(releaseProblems({ image, unverified: [] })).toHaveLength(1);
    }
  });

  it('is refused with packages in the image that npm could not check', () => {
    const problems = (...unverified: string[]) =>
      releaseProblems({ image: `node@${digest}`, unverified }).length;
    expect(problems('impit-linux-arm64-gnu@1.0.0')).toBe(1);
    expect(problems('impit-darwin-arm64@1.0.0', '@a/b-win32-x64-msvc@1.0.0')).toBe(0);
  });

  it('takes its base image from one place', () => {
    const stages = stagesOf(read('Dockerfile'));
    const own = new Set(stages.map(({ name }) => name));
    const images = stages.map(({ from }) => from).filter((from) => !own.has(from));
    for (const image of images) expect(image).toMatch(/^\$\{NODE_IMAGE\}$/);
  });
});

describe('signatures of packages', () => {
  it('that are wrong or missing are refused', () => {
    const wrong = JSON.stringify({ invalid: [{ name: 'a', version: '1.0.0' }], missing: [] });
    expect(signatureVerdict(1, wrong)).toMatchObject({ isRefused: true });
    expect(signatureVerdict(1, wrong).message).toContain('a@1.0.0');
    const missing = JSON.stringify({ invalid: [], missing: [{ name: 'b', version: '2.0.0' }] });
    expect(signatureVerdict(1, missing)).toMatchObject({ isRefused: true });
  });

  it('that cannot be checked are said not to be, and refuse nothing', () => {
    for (const said of ['', 'npm error network', '{"error":{"code":"ENOTFOUND"}}']) {
      const { isRefused, message } = signatureVerdict(1, said);
      expect([isRefused, message.includes('NOT CHECKED')]).toEqual([false, true]);
    }
    expect(signatureVerdict(0, '{"invalid":[],"missing":[]}').message).toContain('all are right');
  });
});
