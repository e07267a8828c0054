/** Finds out at every start whether a job has sealed options, without reading all jobs. */
export const SECRET_INDEX = `
  CREATE INDEX jobs_sealed ON jobs (seq) WHERE options ? 'sealed';
`;
