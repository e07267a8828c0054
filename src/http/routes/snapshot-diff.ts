import { z } from 'zod';
import { DIFF_MODES } from '../../capabilities/compare/page-comparer.ts';
import { rulesOf, rulesParameter } from '../../capabilities/views/diff-view.ts';
import { versionDiffSchema, versionDiffView, versionOf } from '../../capabilities/views/snapshot-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { readableSnapshot } from '../access/readable-snapshot.ts';
import type { App } from '../server/app.ts';
import { answers, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

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
