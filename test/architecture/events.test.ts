import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventsTable, webhookEventsTable, withSection } from '../../scripts/docs.ts';
import { EVENTS } from '../../src/core/model/event-types.ts';
import { readSources, readSqlFiles } from './sources.ts';

/** Names that stand where an event is written: in calls of the writers, in SQL, and in triggers. */
const WRITTEN = [
  /write_event\(\s*'([^']+)'/g,
  /happened := '([a-z]+\.[a-z_]+)'/g,
  /write(?:Job)?Event\(\w+, '([^']+)'/g,
  /(?:writeEvent\(|appendEvents\(|NewEvent\b)[^;]{0,80}?\btype: '([^']+)'/g,
  /\b(?:event|tell|end)\(\s*'([a-z]+\.[a-z_]+)'/g,
];
const FAMILIES = [...new Set(Object.keys(EVENTS).map((type) => type.split('.')[0]))].join('|');
/** Anything that looks like an event of a family that has some, in the stores, and is no name of a file. */
const NAMED = new RegExp(`'((?:${FAMILIES})\\.(?!sql')[a-z_]+)'`, 'g');

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the registry of events', () => {
  const sources = [...readSources(), ...readSqlFiles()];
  const found = new Map<string, string>();
  for (const { path, text } of sources) {
    // Messages of the bus are no events.
    if (path.startsWith('drivers/bus-')) continue;
    for (const pattern of WRITTEN) for (const [, type = ''] of text.matchAll(pattern)) found.set(type, path);
    // A store may write a type that it keeps in a constant.
    if (!path.startsWith('drivers/store-')) continue;
    for (const [, type = ''] of text.matchAll(NAMED)) found.set(type, path);
  }

  it('has every event that is written', () => {
    expect(found.size).toBeGreaterThan(9);
    expect([...found].filter(([type]) => !(type in EVENTS))).toEqual([]);
  });

  it('has no event that nothing writes', () => {
    // `job.` and the status of the job are put together where a job ends.
    const ends = ['job.completed', 'job.partially_completed', 'job.failed', 'job.cancelled'];
    const all = sources
      .filter(({ path }) => path !== 'core/model/event-types.ts')
      .map(({ text }) => text)
      .join('\n');
    const unwritten = Object.keys(EVENTS).filter(
      (type) => !ends.includes(type) && !all.includes(`'${type}'`),
    );
    expect(unwritten).toEqual([]);
  });

  it.each([
    ['docs/events.md', eventsTable()],
    ['docs/webhooks.md', webhookEventsTable()],
  ])('is what %s lists: else run `npm run docs`', (path, content) => {
    const page = read(path);
    expect(page).toBe(withSection(page, 'events', content));
  });
});
