/** Why a page is fetched the way it is, or cannot be fetched at all: the reason of a step of the ladder as a sentence. */
export function planSentence(reason: string, host: string): string {
  const [code = '', ...notes] = reason.split('; ');
  const colonAt = code.indexOf(':');
  const name = colonAt === -1 ? code : code.slice(0, colonAt);
  const what = colonAt === -1 ? '' : code.slice(colonAt + 1);
  const sentence = SENTENCES[name]?.(what, host) ?? `The reason is ${code}.`;
  const consents = notes.flatMap((note) => /^consent-required:(.+)$/.exec(note)?.[1] ?? []);
  if (consents.length === 0) return sentence;
  return `${sentence} The operator's consent to ${quoted(consents.join(','))} for ${host} would open another way.`;
}

const quoted = (names: string) =>
  names
    .split(',')
    .map((name) => `\`${name}\``)
    .join(', ');

const SENTENCES: Readonly<Record<string, (what: string, host: string) => string>> = {
  'cache.hit': () => 'A page that is stored already answers it, as `maxAge` allows; no request was sent.',
  'plan.cheapest': () => 'It is the cheapest way to fetch a page.',
  'plan.requested': () => 'The request names this engine.',
  'plan.needs': (what) => `The options of the request need ${quoted(what)}.`,
  'plan.remembered': (_what, host) => `This way has worked on ${host} before.`,
  'plan.probe': (_what, host) => `A cheaper way is tried now and then, in case ${host} has changed.`,
  'plan.retry': (what) => `The attempt before ended with ${what}, which may pass.`,
  'plan.render': () => 'The page is empty without its scripts, so a browser renders it.',
  'plan.escalate': (what, host) => `${host} refused the attempt before (${what}), so a dearer way is tried.`,
  'plan.solve': (what) => `A solver service is asked about the ${what}.`,
  'plan.none': () => 'No way had been chosen yet.',
  'plan.over': (what) => `The attempt settles it (${what}).`,
  'plan.attempts-spent': (what) => `All ${what} attempts are used up.`,
  'plan.way-gone': (what) => `The attempt before ended with ${what}, and its way is no longer there.`,
  'plan.nothing-left': (what) => `No other way is left (${what}).`,
  'plan.no-proxy-tier': (what) =>
    what === 'any'
      ? 'No proxies are set up here (SCRAPIFIE_PROXY_FILE).'
      : `There is no proxy of the tier \`${what}\` here (SCRAPIFIE_PROXY_FILE).`,
  'plan.no-engine': (what) =>
    what === 'auto' ? 'No engine is installed here.' : `The engine \`${what}\` is not installed here.`,
  'plan.not-allowed': (what, host) =>
    what === 'auto'
      ? `The policy for ${host} allows no engine that is installed here.`
      : `The policy for ${host} does not allow engine \`${what}\`.`,
  'plan.cannot': (what, host) => `No engine that the policy for ${host} allows can do this: ${quoted(what)}.`,
  'plan.no-identity': (what) => `No engine here can present the identity \`${what}\`.`,
  'plan.consent-required': (what, host) => `The policy for ${host} does not consent to ${quoted(what)}.`,
  'plan.no-worker': (what) => `No process that runs the engine ${quoted(what)} answers at the moment.`,
};
