import type { Screen, Viewport } from '../../../core/model/identity.ts';
import type { OperatingSystem } from './hardware.ts';

/** The sizes that every viewport keeps within. */
export const VIEWPORT_LIMITS = { minWidth: 1280, maxWidth: 1920, minHeight: 720, maxHeight: 1080 } as const;

type Size = readonly [width: number, height: number, devicePixelRatio: number];

/** Usual ones; those that many people have stand there more than once. */
const SIZES: Readonly<Record<OperatingSystem, readonly Size[]>> = {
  windows: [
    [1920, 1080, 1],
    [1920, 1080, 1],
    [1920, 1080, 1],
    [1536, 864, 1.25],
    [1536, 864, 1.25],
    [1680, 1050, 1],
    [1600, 900, 1],
    [1440, 900, 1],
    [1920, 1200, 1],
  ],
  macos: [
    [1440, 900, 2],
    [1440, 900, 2],
    [1512, 982, 2],
    [1680, 1050, 2],
    [1728, 1117, 2],
    [1792, 1120, 2],
    [1920, 1080, 2],
  ],
  linux: [
    [1920, 1080, 1],
    [1920, 1080, 1],
    [1680, 1050, 1],
    [1600, 900, 1],
    [1920, 1200, 1],
  ],
};
/** What the desktop keeps for itself: taskbar, menu bar, panel. */
const BARS: Readonly<Record<OperatingSystem, number>> = { windows: 48, macos: 25, linux: 27 };
/** Tabs and address bar of Chrome, and its bar of bookmarks. */
const BROWSER_HEIGHT = 87;
const BOOKMARKS_HEIGHT = 33;
const MOST_NARROWER = 160;

/** A screen of this kind of computer, and a browser window on it. */
export function pickScreen(
  system: OperatingSystem,
  random: () => number,
): { readonly screen: Screen; readonly viewport: Viewport } {
  const sizes = SIZES[system];
  const [width, height, devicePixelRatio] = sizes[Math.floor(random() * sizes.length)] ?? [1920, 1080, 1];
  const availHeight = height - BARS[system];
  const withBookmarks = availHeight - BROWSER_HEIGHT - BOOKMARKS_HEIGHT;
  const hasBookmarks = random() < 0.4 && withBookmarks >= VIEWPORT_LIMITS.minHeight;
  // Windows on a Mac seldom fill the screen.
  const narrower = system === 'macos' ? Math.floor(random() * MOST_NARROWER) : 0;
  return {
    screen: {
      width,
      height,
      availWidth: width,
      availHeight,
      // Some Macs have deeper ones, but style sheets are asked as well and no browser can be told to answer otherwise.
      colorDepth: 24,
      devicePixelRatio,
    },
    viewport: {
      width: Math.max(VIEWPORT_LIMITS.minWidth, width - narrower),
      height: Math.min(
        VIEWPORT_LIMITS.maxHeight,
        hasBookmarks ? withBookmarks : availHeight - BROWSER_HEIGHT,
      ),
    },
  };
}
