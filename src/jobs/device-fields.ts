import { z } from 'zod';
import type { RenderDevice } from '../model/render.ts';

const LEAST_PX = 100;
const MOST_PX = 4_096;

const pixels = z.number().int().min(LEAST_PX).max(MOST_PX);

const viewport = z
  .strictObject({ width: pixels, height: pixels })
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

/** The screen and the place that a page finds, the same in every kind of request. */
export const deviceFields = { viewport, mobile, geolocation, locale, timezone };

export type DeviceOptions = z.output<z.ZodObject<typeof deviceFields>>;

/** The fields that were given. */
export function deviceFieldsGiven(request: DeviceOptions): (keyof DeviceOptions)[] {
  const names = Object.keys(deviceFields) as (keyof DeviceOptions)[];
  return names.filter((name) => request[name] !== null && request[name] !== false);
}

/** Undefined when nothing was given. */
export function deviceOf(request: DeviceOptions): RenderDevice | undefined {
  if (deviceFieldsGiven(request).length === 0) return undefined;
  const { viewport, mobile, geolocation, locale, timezone } = request;
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
