/** What sessions and credentials are called: fit for a URL, a file and a log line. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const NAME_RULE = '1 to 100 letters, digits, dots, dashes and underscores, a letter or digit first';
