import { z } from 'zod';

/** An address of a web page; one without a scheme is taken for http. */
export const webUrl = z
  .string()
  .min(1)
  .max(8_192)
  .transform((url) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`))
  .refine((url) => /^https?:/i.test(url) && URL.canParse(url), 'Invalid URL');
