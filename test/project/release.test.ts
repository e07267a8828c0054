import { describe, expect, it } from 'vitest';
import { releaseNotes, versionProblems } from '../../scripts/version-problems.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

- Not yet.

## [1.2.3] - 2026-01-31

### Added

- A thing.

## [1.2.30] - 2026-01-01
`;
const release = (tag: string, versions: Readonly<Record<string, string | undefined>> = {}) =>
  versionProblems({ tag, versions: { 'package.json': '1.2.3', ...versions }, changelog: CHANGELOG });

describe('a tag becomes a release', () => {
  it('when every part has its version and the changelog tells what is new', () => {
    expect(release('v1.2.3', { 'sdk/python/pyproject.toml': '1.2.3' })).toEqual([]);
  });

  it('but not with another version in one of them', () => {
    expect(release('v1.2.3', { 'sdk/python/pyproject.toml': '1.2.2', 'Chart.yaml': undefined })).toEqual([
      'sdk/python/pyproject.toml has version 1.2.2, the tag says 1.2.3.',
      'Chart.yaml has version none, the tag says 1.2.3.',
    ]);
  });

  it('but not without a part of the changelog that says something', () => {
    const of = (version: string) => release(`v${version}`, { 'package.json': version });
    expect(of('1.2.4')).toEqual(['CHANGELOG.md has no part "## [1.2.4] - YYYY-MM-DD".']);
    expect(of('1.2.30')).toEqual(['CHANGELOG.md says nothing about 1.2.30.']);
  });

  it.each(['1.2.3', 'v1.2', 'v01.2.3', 'v1.2.3+build', 'v1.2.3-', 'version'])('but not %s', (tag) => {
    expect(release(tag)).toHaveLength(1);
  });

  it('with versions before a release as Python writes them', () => {
    const of = (python: string) =>
      versionProblems({
        tag: 'v2.0.0-rc.1',
        versions: { 'pyproject.toml': python },
        changelog: '## [2.0.0-rc.1] - 2026-01-01\n\nNew.\n',
      });
    expect(of('2.0.0rc1')).toEqual([]);
    expect(of('2.0.0-rc.1')).toHaveLength(1);
  });
});

it('the notes of a release are its part of the changelog', () => {
  expect(releaseNotes(CHANGELOG, '1.2.3')).toBe('### Added\n\n- A thing.');
  expect(releaseNotes(CHANGELOG, '1.2')).toBeNull();
});
