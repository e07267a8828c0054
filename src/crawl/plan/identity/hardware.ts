import { type Fingerprint, FingerprintGenerator } from 'fingerprint-generator';
import type { Screen, Viewport } from '../../../core/model/identity.ts';

export type OperatingSystem = 'windows' | 'macos' | 'linux';

/** A computer, and the headers of a browser on it in the order in which that sends them. */
export interface Hardware {
  readonly system: OperatingSystem;
  /** What scripts read as `navigator.platform`. */
  readonly platform: string;
  readonly platformVersion: string;
  readonly architecture: 'x86' | 'arm';
  readonly hardwareConcurrency: number;
  /** In GB, as browsers round it. */
  readonly deviceMemory: number;
  readonly videoCard: { readonly vendor: string; readonly renderer: string };
  readonly headerNames: readonly string[];
}

interface Traits {
  readonly platform: string;
  readonly renderer: RegExp;
  readonly platformVersion: RegExp;
  /** Taken when nothing that fits is drawn. */
  readonly plain: Pick<Hardware, 'platformVersion' | 'videoCard'>;
}

const TRAITS: Readonly<Record<OperatingSystem, Traits>> = {
  windows: {
    platform: 'Win32',
    renderer: /^ANGLE \((?:Intel|NVIDIA|AMD), .*Direct3D11 /,
    platformVersion: /^1[0-9]\.0\.0$/,
    plain: {
      platformVersion: '19.0.0',
      videoCard: {
        vendor: 'Google Inc. (Intel)',
        renderer: 'ANGLE (Intel, Intel(R) UHD Graphics 620 (0x00005917) Direct3D11 vs_5_0 ps_5_0, D3D11)',
      },
    },
  },
  macos: {
    platform: 'MacIntel',
    renderer: /^ANGLE \((?:Apple|Intel|AMD), ANGLE Metal Renderer: /,
    platformVersion: /^(?:1[3-5]|2[6-9])\.\d+\.\d+$/,
    plain: {
      platformVersion: '26.4.1',
      videoCard: {
        vendor: 'Google Inc. (Apple)',
        renderer: 'ANGLE (Apple, ANGLE Metal Renderer: Apple M1, Unspecified Version)',
      },
    },
  },
  linux: {
    platform: 'Linux x86_64',
    renderer: /^ANGLE \((?:Intel|NVIDIA Corporation|AMD), (?!.*(?:llvmpipe|SwiftShader)).*OpenGL/,
    platformVersion: /^(?:\d\.\d+\.\d+)?$/,
    plain: {
      platformVersion: '',
      videoCard: {
        vendor: 'Google Inc. (Intel)',
        renderer: 'ANGLE (Intel, Mesa Intel(R) UHD Graphics (CML GT2), OpenGL 4.6)',
      },
    },
  },
};
const CORES: ReadonlySet<number> = new Set([4, 6, 8, 10, 12, 14, 16, 20, 24, 32]);
const MEMORIES: ReadonlySet<number> = new Set([4, 8, 16, 32]);
const MOST_DRAWS = 12;
/** As Chrome sends a navigation, where the generator has nothing better. */
const PLAIN_HEADER_NAMES = [
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'upgrade-insecure-requests',
  'user-agent',
  'accept',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-user',
  'sec-fetch-dest',
  'accept-encoding',
  'accept-language',
];

// Reads its tables once, which takes a third of a second and some megabytes, so only processes that need identities do it.
let generator: FingerprintGenerator | null = null;

/**
 * Draws a computer of this kind from what real browsers report. What does not fit together, a phone's graphics on a
 * Mac or a machine without any, is drawn again.
 */
export function drawHardware(system: OperatingSystem, random: () => number): Hardware {
  const traits = TRAITS[system];
  for (let draws = 0; draws < MOST_DRAWS; draws += 1) {
    const { fingerprint, headers } = draw(system, random);
    const { navigator, videoCard } = fingerprint;
    if (!fits(fingerprint, traits)) continue;
    return {
      system,
      platform: traits.platform,
      platformVersion: navigator.userAgentData.platformVersion,
      architecture: architectureOf(system, videoCard.renderer),
      hardwareConcurrency: navigator.hardwareConcurrency,
      deviceMemory: navigator.deviceMemory ?? 8,
      videoCard: { vendor: videoCard.vendor, renderer: videoCard.renderer },
      headerNames: Object.keys(headers),
    };
  }
  const { plain, platform } = traits;
  return {
    system,
    platform,
    ...plain,
    architecture: architectureOf(system, plain.videoCard.renderer),
    hardwareConcurrency: 8,
    deviceMemory: 8,
    headerNames: PLAIN_HEADER_NAMES,
  };
}

function draw(system: OperatingSystem, random: () => number) {
  generator ??= new FingerprintGenerator({ browsers: ['chrome'], devices: ['desktop'], httpVersion: '2' });
  const { random: chance } = Math;
  // The generator takes its chances from there alone, and runs synchronously, so no other code can come in between.
  Math.random = random;
  try {
    return generator.getFingerprint({ operatingSystems: [system] });
  } finally {
    Math.random = chance;
  }
}

function fits({ navigator, videoCard }: Fingerprint, traits: Traits): boolean {
  const hints = navigator.userAgentData as Fingerprint['navigator']['userAgentData'] | null;
  const card = videoCard as Fingerprint['videoCard'] | null;
  return (
    navigator.platform === traits.platform &&
    hints !== null &&
    traits.platformVersion.test(hints.platformVersion) &&
    card !== null &&
    traits.renderer.test(card.renderer) &&
    CORES.has(navigator.hardwareConcurrency) &&
    MEMORIES.has(navigator.deviceMemory ?? 0) &&
    navigator.maxTouchPoints === 0
  );
}

function architectureOf(system: OperatingSystem, renderer: string): Hardware['architecture'] {
  return system === 'macos' && renderer.startsWith('ANGLE (Apple') ? 'arm' : 'x86';
}

/** The sizes that every viewport keeps within. */
const VIEWPORT_LIMITS = { minWidth: 1280, maxWidth: 1920, minHeight: 720, maxHeight: 1080 } as const;

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
