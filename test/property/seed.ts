import fc from 'fast-check';

// Properties try the same cases in every run, so that a red run is the fault of the change under test and can be
// repeated. PROPERTY_SEED takes another number, or `random` for cases that were never tried before.
const { PROPERTY_SEED: given = '20260901' } = process.env;
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
