/** What a release says about its version, in the places that say it. */
interface ReleaseVersions {
  /** The tag, such as `v1.2.3`. */
  readonly tag: string;
  /** The version that each file has, by its path. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly changelog: string;
}

/** A version by Semantic Versioning, without build metadata, which npm and registries of images take differently. */
const SEMVER = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Why the tag cannot be released; empty when it can. */
export function versionProblems({ tag, versions, changelog }: ReleaseVersions): string[] {
  const version = tag.replace(/^v/, '');
  if (!tag.startsWith('v') || !SEMVER.test(version))
    return [`the tag "${tag}" is not v and a version, such as v1.2.3.`];
  const problems = Object.entries(versions).flatMap(([file, found]) =>
    found === expectedIn(file, version)
      ? []
      : [`${file} has version ${found ?? 'none'}, the tag says ${version}.`],
  );
  const notes = releaseNotes(changelog, version);
  if (notes === null) problems.push(`CHANGELOG.md has no part "## [${version}] - YYYY-MM-DD".`);
  else if (notes === '') problems.push(`CHANGELOG.md says nothing about ${version}.`);
  return problems;
}

/** Python writes versions before a release another way: 1.2.3-rc.1 is 1.2.3rc1. */
function expectedIn(file: string, version: string): string {
  return file.endsWith('.toml')
    ? version.replace(
        /-(alpha|beta|rc)\.(\d+)$/,
        (_, kind: string, n: string) => `${{ alpha: 'a', beta: 'b' }[kind] ?? kind}${n}`,
      )
    : version;
}

/** The part of the changelog about a version, without its heading; null when there is none with a date. */
export function releaseNotes(changelog: string, version: string): string | null {
  const parts = changelog.split(/^## /m);
  const heading = new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}\\n`);
  const part = parts.find((each) => heading.test(each));
  return part === undefined ? null : part.replace(heading, '').trim();
}
