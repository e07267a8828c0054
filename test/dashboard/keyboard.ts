import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** What has the focus, as a person who cannot see the page is told. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  const name = at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent ?? '';
  const { outlineStyle, boxShadow } = getComputedStyle(at);
  return { name: name.trim(), isSeen: outlineStyle !== 'none' || boxShadow !== 'none' };
})()`;
/** More than any page has controls. */
const MOST_STEPS = 200;

/** Goes on with the Tab key to the control of this name, as one does without a mouse; the focus has to be seen there. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < MOST_STEPS; step++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<{ readonly name: string; readonly isSeen: boolean }>(FOCUSED);
    if (typeof name === 'string' ? focused.name === name : name.test(focused.name)) {
      expect(focused.isSeen, `the focus at ${focused.name} is seen`).toBe(true);
      return;
    }
    passed.push(focused.name.slice(0, 30));
  }
  throw new Error(`The Tab key does not come by ${name}, but by: ${[...new Set(passed)].join(' · ')}`);
}

/** Goes on with the Tab key to the control of this name and presses it. */
export async function pressAt(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Goes on to a field and writes into it, in place of what stands there. */
export async function typeAt(page: Page, name: string | RegExp, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}

/** Moves in the list of tabs that has the focus to the tab of this name, which is then shown. */
export async function arrowToTab(page: Page, name: string): Promise<void> {
  const steps = await page.evaluate<number>(`(() => {
    const tabs = [...document.activeElement.closest('[role="tablist"]').querySelectorAll('[role="tab"]')];
    const wanted = tabs.findIndex((tab) => tab.textContent.trim() === ${JSON.stringify(name)});
    return wanted - tabs.indexOf(document.activeElement);
  })()`);
  for (let step = 0; step < Math.abs(steps); step++) {
    await page.keyboard.press(steps > 0 ? 'ArrowRight' : 'ArrowLeft');
  }
  await page.getByRole('tab', { name, exact: true, selected: true }).waitFor();
}
