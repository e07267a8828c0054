import type { CDPSession } from 'patchright-core';
import type { BrowserStorage } from '../../../model/render.ts';
import type { StoragePut } from './page-tools.ts';

type LocalStorage = BrowserStorage['localStorage'];

/** Fills the local storage of each origin before the first scripts of its own run. */
export async function putByScript(cdp: CDPSession, storage: LocalStorage): Promise<StoragePut> {
  const left = new Map(Object.entries(storage));
  let script: Promise<string> | null = null;
  const remove = () => {
    script
      ?.then((identifier) => cdp.send('Page.removeScriptToEvaluateOnNewDocument', { identifier }))
      .catch(() => {});
    script = null;
  };
  const add = () => {
    if (left.size === 0) return;
    const source = sourceFor(Object.fromEntries(left));
    script = cdp
      .send('Page.addScriptToEvaluateOnNewDocument', { source })
      .then(({ identifier }) => identifier);
    script.catch(() => {});
  };
  add();
  await script;
  return {
    arrivedAt(origin) {
      if (!left.delete(origin)) return;
      remove();
      add();
    },
    end: remove,
  };
}

/** Frames of the page's own origin come later than its scripts, which may have changed something by then. */
function sourceFor(origins: LocalStorage): string {
  // As text in text, so that no value can be more than a value.
  const data = JSON.stringify(JSON.stringify(origins));
  return `try {
    let isInside = false;
    try { isInside = parent !== self && parent.location.origin === location.origin; } catch {}
    const items = isInside ? undefined : JSON.parse(${data})[location.origin];
    if (items !== undefined) {
      localStorage.clear();
      for (const [name, value] of Object.entries(items)) localStorage.setItem(name, value);
    }
  } catch {}`;
}
