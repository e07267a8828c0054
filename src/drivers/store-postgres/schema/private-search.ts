/**
 * Private pages get entries of their own in the full-text index. The mark in the key leaves the constraint as it is, which
 * programs of the version before name. What they still write is shown by the store to those alone who may see it.
 */
export const PRIVATE_SEARCH = `
  ALTER TABLE search_entries ADD COLUMN is_private smallint NOT NULL DEFAULT 0;
  UPDATE search_entries e SET is_private = 1, url_key = e.url_key || '!' FROM jobs j
  WHERE j.id = e.job_id AND j.options ->> 'credentials' = 'read' AND j.options -> 'page' ->> 'session' IS NOT NULL;
`;
