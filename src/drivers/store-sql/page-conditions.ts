/** A page is public, by its job (j): it was not fetched by a session of the account that reads with credentials. */
export const IS_PUBLIC_PAGE = {
  sqlite: `coalesce(json_extract(j.options, '$.credentials') = 'read'
      AND json_extract(j.options, '$.page.session') IS NOT NULL, 0) = 0`,
  postgres: `coalesce(j.options ->> 'credentials' = 'read' AND j.options -> 'page' ->> 'session' IS NOT NULL, false) = false`,
};

/** A record refers to blobs, or may: that of a rendered page, or a compressed one, which must be read to find out. */
export const MAY_BE_RENDERED = {
  sqlite: `(substr(record, 1, 12) = CAST('{"rendered":' AS BLOB) OR substr(record, 1, 1) <> x'7b')`,
  postgres: `(substring(record FROM 1 FOR 12) = '{"rendered":'::bytea OR substring(record FROM 1 FOR 1) <> '{'::bytea)`,
};
