import { setRequestEvents } from '../patchright/patchright-events.ts';
import { MainDocument } from './document-gate.ts';
import { NetworkWatch } from './network-watch.ts';
import { readRaw } from './page-content.ts';
import { block, kitOf } from './page-kit.ts';
import type { PageTools, ToolOptions } from './page-tools.ts';
import { blockedPatterns } from './resource-blocks.ts';
import { putByScript } from './storage-script.ts';

/** By Chromium's own protocol. */
export async function cdpTools(options: ToolOptions): Promise<PageTools> {
  const { page, request, guard, watchesConsole, proxyLogin, limits } = options;
  const kit = await kitOf(page, watchesConsole, guard, proxyLogin);
  const { cdp } = kit;
  const { wait, screenshot, pdf, actions = [] } = request;
  const awaitsIdle = [wait, ...actions].some(
    (step) => step !== undefined && 'until' in step && step.until === 'networkidle',
  );
  // A disguised browser logs in to its proxy.
  await setRequestEvents(page, !watchesConsole || awaitsIdle);
  const isVisual = screenshot !== undefined || pdf === true || actions.length > 0;
  const document = new MainDocument({ ...options, cdp, isVisual });
  const network = new NetworkWatch(cdp, kit.mainFrameId, request.captureXhr === true, limits, options.load);
  kit.gate = document;
  return {
    document,
    network,
    isSpoilt: false,
    block: (kinds) => block(kit, blockedPatterns(kinds)),
    putLocalStorage: (storage) => putByScript(cdp, storage),
    evaluate: (work, argument) => kit.world.evaluate(work, argument),
    async readRaw({ networkId }, maxBytes) {
      return networkId === null ? null : readRaw(cdp, networkId, maxBytes);
    },
    end() {
      kit.gate = null;
      network.end();
    },
  };
}
