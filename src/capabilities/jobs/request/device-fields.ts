import { z } from 'zod';
import { isGiven, type PageOption } from '../../../core/model/page-option.ts';
import type { RenderDevice } from '../../../core/model/render.ts';

const LEAST_PX = 100;
const MOST_PX = 4_096;

const pixels = z.number().int().min(LEAST_PX).max(MOST_PX);

const viewport = z
  .strictObject({ width: pixels, height: pixels })
  .meta({ id: 'PageViewport' })
  .nullable()
  .default(null)
  .describe(
    'Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.',
  )
  .meta({ examples: [{ width: 1_920, height: 1_080 }] });

const mobile = z
  .boolean()
  .default(false)
  .describe('Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.');

const geolocation = z
  .strictObject({
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    accuracy: z.number().min(0).max(1_000_000).optional().describe('In metres; 10 unless given.'),
  })
  .meta({ id: 'PageGeolocation' })
  .nullable()
  .default(null)
  .describe('Where pages that ask for the position find the browser. Needs a browser.')
  .meta({ examples: [{ latitude: 52.52, longitude: 13.405 }] });

const locale = z
  .string()
  .max(35)
  .refine((tag) => canonicalTag(tag) !== null, 'Not a language tag such as `de-DE`.')
  .nullable()
  .default(null)
  .describe('Language of the browser, which sites also get as `Accept-Language`. Needs a browser.')
  .meta({ examples: ['de-DE'] });

const timezone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'Not the name of a time zone such as `Europe/Berlin`.')
  .nullable()
  .default(null)
  .describe('Time zone of the browser. Needs a browser.')
  .meta({ examples: ['Europe/Berlin'] });

/** The screen and the place that a page finds. */
export const deviceOptions = {
  viewport: {
    schema: viewport,
    stored: 'render.device.viewport',
    flags: {
      viewport: {
        flag: '--viewport <size>',
        says: 'size of the window in pixels, e.g. 1920x1080',
        reads: 'size',
        gives: ['width', 'height'],
      },
    },
    form: [
      {
        group: 'fetch',
        part: 'width',
        label: 'Window width',
        kind: 'number',
        placeholder: '1280',
        isHalf: true,
      },
      {
        group: 'fetch',
        part: 'height',
        label: 'Window height',
        kind: 'number',
        placeholder: '800',
        isHalf: true,
      },
    ],
  },
  mobile: {
    schema: mobile,
    stored: 'render.device.isMobile',
    flags: { mobile: { flag: '--mobile', says: 'show pages as on a phone' } },
    form: [{ group: 'fetch', label: 'As on a phone', kind: 'on' }],
  },
  geolocation: {
    schema: geolocation,
    stored: 'render.device.geolocation',
    flags: {
      geolocation: {
        flag: '--geolocation <place>',
        says: 'where the browser is, e.g. 52.52,13.405',
        reads: 'place',
        gives: ['latitude', 'longitude'],
      },
    },
    form: [
      {
        group: 'fetch',
        part: 'latitude',
        label: 'Latitude',
        kind: 'number',
        placeholder: '52.52',
        isHalf: true,
      },
      {
        group: 'fetch',
        part: 'longitude',
        label: 'Longitude',
        kind: 'number',
        placeholder: '13.405',
        isHalf: true,
      },
      { group: 'fetch', part: 'accuracy', label: 'Accuracy, metres', kind: 'number', placeholder: '10' },
    ],
  },
  locale: {
    schema: locale,
    stored: 'render.device.locale',
    flags: { locale: { flag: '--locale <tag>', says: 'language of the browser, e.g. de-DE' } },
    form: [{ group: 'fetch', label: 'Language', kind: 'text', placeholder: 'de-DE', isHalf: true }],
  },
  timezone: {
    schema: timezone,
    stored: 'render.device.timezone',
    flags: {
      timezone: { flag: '--timezone <name>', says: 'time zone of the browser, e.g. Europe/Berlin' },
    },
    form: [{ group: 'fetch', label: 'Time zone', kind: 'text', placeholder: 'Europe/Berlin', isHalf: true }],
  },
} as const satisfies Readonly<Record<string, PageOption>>;

/** Missing is the same as not given. */
export type DeviceOptions = {
  readonly [Name in keyof typeof deviceOptions]?: z.output<(typeof deviceOptions)[Name]['schema']>;
};

/** The fields that were given. */
export function deviceFieldsGiven(request: DeviceOptions): (keyof DeviceOptions)[] {
  const names = Object.keys(deviceOptions) as (keyof DeviceOptions)[];
  return names.filter((name) => isGiven(request[name]));
}

/** Undefined when nothing was given. */
export function deviceOf(request: DeviceOptions): RenderDevice | undefined {
  if (deviceFieldsGiven(request).length === 0) return undefined;
  const { viewport = null, mobile = false, geolocation = null, locale = null, timezone = null } = request;
  return {
    ...(viewport === null ? {} : { viewport }),
    ...(mobile ? { isMobile: true } : {}),
    ...(geolocation === null ? {} : { geolocation }),
    ...(locale === null ? {} : { locale: canonicalTag(locale) ?? locale }),
    ...(timezone === null ? {} : { timezone }),
  };
}

function canonicalTag(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

function isTimeZone(name: string): boolean {
  try {
    // Chromium knows names, and no offsets such as +01:00.
    return (
      /^[A-Z]/i.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat
    );
  } catch {
    return false;
  }
}
