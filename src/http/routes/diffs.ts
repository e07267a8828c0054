import { z } from 'zod';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import type { Comparisons, SitePair } from '../../capabilities/compare/comparisons.ts';
import { DIFF_MODES } from '../../capabilities/compare/page-comparer.ts';
import { type ChangeType, noCounts, type SiteChange } from '../../capabilities/compare/site-change.ts';
import {
  changeSchema,
  changeView,
  rulesOf,
  rulesParameter,
  typesOf,
  typesParameter,
} from '../../capabilities/views/diff-view.ts';
import {
  listAnswer,
  listSchema,
  pagingFields,
  selfLinks,
  selfSchema,
  unwrapCursor,
} from '../../capabilities/views/list.ts';
import { versionDiffSchema, versionDiffView, versionOf } from '../../capabilities/views/snapshot-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { defined } from '../../lib/defined.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, placeOfCaller } from '../server/caller.ts';
import { clientGone } from '../server/connections.ts';
import { answers, success } from '../server/envelope.ts';
import { orLines, sendNdjson, wantsNdjson } from '../server/large-answers.ts';
import { refuseCursor } from './job-pages.ts';
import { jobParams } from './jobs.ts';
import type { SharedRouteDeps } from './route-deps.ts';
import { readableSnapshot } from './snapshots.ts';

const countsSchema = z
  .object(Object.fromEntries(Object.keys(noCounts()).map((type) => [type, z.number()])))
  .describe('URLs of each type.');

/** What changed between two jobs. */
export function addJobDiffRoutes(app: App, { jobs, store, now, comparisons }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/diff',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'What changed on a site since an earlier job',
      description:
        'One entry per URL, in an order that is always the same. A page of the list may be shorter than `limit`, and empty, ' +
        'although `nextCursor` leads on. With `Accept: application/x-ndjson` everything is streamed, one object per line.',
      params: jobParams,
      querystring: z.strictObject({
        against: z.string().min(1).max(64).describe('The earlier job.'),
        type: typesParameter,
        rules: rulesParameter,
        summary: z
          .enum(['true', 'false'])
          .default('false')
          .describe(
            '`true`: count the URLs of each type as well, which looks at all of them (10,000 at most).',
          ),
        ...pagingFields,
      }),
      response: orLines(
        answers({
          200: listSchema(changeSchema).extend({
            summary: z
              .object({ counts: countsSchema, isWhole: z.boolean() })
              .optional()
              .describe('Only where it was asked for.'),
            links: selfSchema,
          }),
        }),
      ),
    },
    async handler(request, reply) {
      const { against, cursor, limit } = request.query;
      const account = accountOf(request);
      const current = await jobs.get(request.params.id, account);
      const previous = await jobs.get(against, account);
      for (const job of [current, previous]) requireReadable(apiKeyOf(request), job);
      const pair: SitePair = { previous, current, rules: rulesOf(request.query.rules) };
      const types = typesOf(request.query.type);
      if (wantsNdjson(request)) {
        refuseCursor(cursor);
        const details = { what: 'diff', against: previous.id, ...placeOfCaller(request) };
        const { id: actor } = apiKeyOf(request);
        await store.audit([{ at: now(), actor, action: 'job.export', target: current.id, details }]);
        return sendNdjson(reply, eachView(comparisons, pair, types));
      }
      const signal = clientGone(reply);
      const slice = await comparisons.slice(
        pair,
        { types, limit, cursor: unwrapCursor('changes', cursor) },
        signal,
      );
      const summary = request.query.summary === 'true' ? await comparisons.summary(pair, signal) : undefined;
      return success({
        ...listAnswer('changes', slice, (change: SiteChange) => changeView(change)),
        ...defined({ summary }),
        links: selfLinks('jobs', current.id, 'diff'),
      });
    },
  });
}

async function* eachView(comparisons: Comparisons, pair: SitePair, types: readonly ChangeType[]) {
  for await (const change of comparisons.changes(pair))
    if (types.includes(change.type)) yield changeView(change);
}

/** How two contents of a page differ. */
export function addSnapshotDiffRoutes(app: App, { store, comparisons }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/snapshots/:id/diff/:other',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['snapshots'],
      summary: 'What changed between two contents of a page',
      description:
        'The first snapshot is the earlier one. With `mode=visual` and `Accept: image/png` the answer is the later picture ' +
        'in grey with what changed in red. See docs/diff.md.',
      params: z.strictObject({
        id: z.string().max(64).describe('The earlier snapshot.'),
        other: z.string().max(64).describe('The later snapshot.'),
      }),
      querystring: z.strictObject({
        mode: z
          .enum(DIFF_MODES)
          .default('rules')
          .describe(
            '`rules`: all that the rules watch. `text`, `word`: the visible text by words. `line`: by lines. `html`: elements and ' +
              'text, also as HTML with `ins` and `del`. `json`: a JSON Patch (RFC 6902) of JSON bodies, else of fields. ' +
              '`fields`: title, price, availability and extracted fields. `visual`: the pixels of the screenshots.',
          ),
        rules: rulesParameter,
      }),
      response: answers({ 200: versionDiffSchema }),
    },
    async handler(request, reply) {
      const { id, other } = request.params;
      const { mode } = request.query;
      const rules = rulesOf(request.query.rules);
      const before = await readableSnapshot(store, request, id);
      const after = await readableSnapshot(store, request, other);
      const found = await comparisons.versions(versionOf(before), versionOf(after), mode, rules);
      if (mode === 'visual' && request.headers.accept?.includes('image/png') === true) {
        const bytes = found.mode === 'visual' ? (found.diff?.picture ?? null) : null;
        if (bytes === null) throw new ScrapifieError('NOT_FOUND', 'The two pictures show no difference.');
        return reply.type('image/png').header('x-content-type-options', 'nosniff').send(Buffer.from(bytes));
      }
      return success(versionDiffView(before, after, found));
    },
  });
}
