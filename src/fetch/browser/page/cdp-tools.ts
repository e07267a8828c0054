import { setRequestEvents } from '../patchright/patchright-patches.ts';
import { MainDocument } from './document-gate.ts';
import { HistoryWatch } from './history-watch.ts';
import { NetworkRecord } from './network-record.ts';
import { NetworkWatch } from './network-watch.ts';
import { block, pageSessionFor } from './page-session.ts';
import { fillLocalStorage } from './page-storage.ts';
import type { PageTools, ToolOptions } from './page-tools.ts';
import { readRaw } from './page-world.ts';
import { blockedPatterns } from './resource-blocks.ts';

/** Opens the tools of a page that speak Chromium's own protocol. */
export async function cdpTools(options: ToolOptions): Promise<PageTools> {
  const { page, request, guard, isDisguised, proxyLogin, limits } = options;
  const session = await pageSessionFor(page, isDisguised, guard, proxyLogin);
  const { cdp } = session;
  const { wait, screenshot, pdf, actions = [] } = request;
  const awaitsIdle = [wait, ...actions].some(
    (step) => step !== undefined && 'until' in step && step.until === 'networkidle',
  );
  // A disguised browser logs in to its proxy.
  await setRequestEvents(page, isDisguised || awaitsIdle);
  const isVisual = screenshot !== undefined || pdf === true || actions.length > 0;
  const document = new MainDocument({ ...options, cdp, isVisual });
  const network = new NetworkWatch(
    cdp,
    session.mainFrameId,
    new NetworkRecord(limits, request.captureXhr === true),
    options.load,
  );
  const history = actions.some(({ type }) => type === 'back')
    ? new HistoryWatch(cdp, session.mainFrameId)
    : null;
  session.gate = document;
  return {
    document: document.progress,
    network: network.record,
    isTainted: false,
    block: (kinds) => block(session, blockedPatterns(kinds)),
    setLocalStorage: (storage) => fillLocalStorage(cdp, storage),
    canGoBack: async () => (await history?.canGoBack()) ?? false,
    evaluate: (work, argument) => session.world.evaluate(work, argument),
    async readRaw({ networkId }, maxBytes) {
      return networkId === null ? null : readRaw(cdp, networkId, maxBytes);
    },
    end() {
      session.gate = null;
      network.end();
      history?.end();
    },
  };
}
