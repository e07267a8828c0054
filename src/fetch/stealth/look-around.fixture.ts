import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../core/model/identity.ts';
import { serve } from '../http/loopback.fixture.ts';

/** What a script can find out about its browser, wherever it runs. */
export interface Look {
  readonly userAgent: string;
  readonly appVersion: string;
  readonly platform: string;
  readonly language: string;
  readonly languages: readonly string[];
  readonly hardwareConcurrency: number;
  readonly deviceMemory: number;
  readonly timeZone: string;
  readonly locale: string;
  readonly brands: unknown;
  readonly hints: unknown;
  readonly videoCard: unknown;
}

export interface PageLook extends Look {
  readonly webdriver: unknown;
  readonly maxTouchPoints: number;
  readonly screen: unknown;
  readonly viewport: unknown;
  readonly outer: readonly number[];
  readonly position: unknown;
}

/** The hints that a site has to ask for. */
const HINTS = [
  'architecture',
  'bitness',
  'formFactors',
  'fullVersionList',
  'model',
  'platformVersion',
  'uaFullVersion',
  'wow64',
];

const LOOK = `async (canvas) => {
  const { userAgent, appVersion, platform, language, languages, hardwareConcurrency, deviceMemory } = navigator;
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  const { mobile, platform: system, brands, ...hints } = await navigator.userAgentData.getHighEntropyValues(${JSON.stringify(HINTS)});
  const cards = ['webgl', 'webgl2'].map((kind) => {
    const gl = canvas().getContext(kind);
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    return { vendor: gl.getParameter(info.UNMASKED_VENDOR_WEBGL), renderer: gl.getParameter(info.UNMASKED_RENDERER_WEBGL) };
  });
  return {
    userAgent, appVersion, platform, language, languages: [...languages], hardwareConcurrency, deviceMemory, timeZone, locale,
    brands: navigator.userAgentData.brands, hints: { ...hints, mobile, platform: system }, videoCard: cards,
  };
}`;
const IN_PAGE = `async () => ({
  ...(await (${LOOK})(() => document.createElement('canvas'))),
  webdriver: navigator.webdriver,
  maxTouchPoints: navigator.maxTouchPoints,
  screen: {
    width: screen.width, height: screen.height, availWidth: screen.availWidth, availHeight: screen.availHeight,
    colorDepth: screen.colorDepth, devicePixelRatio,
  },
  viewport: { width: top.innerWidth, height: top.innerHeight },
  outer: [outerWidth, outerHeight, screenX, screenY],
})`;
const IN_WORKER = `(${LOOK})(() => new OffscreenCanvas(1, 1))`;
const PAGE = `<!doctype html><title>look</title><body><p>${'Something to read. '.repeat(10)}</p><script>
const from = (worker) => new Promise((resolve, reject) => {
  worker.onerror = (event) => reject(new Error('worker: ' + event.message));
  (worker.port ?? worker).onmessage = ({ data }) => resolve(data);
});
const framed = (frame) => new Promise((resolve) => {
  frame.onload = () => resolve(frame.contentWindow.eval(${JSON.stringify(`(${IN_PAGE})()`)}));
  document.body.append(frame);
});
const make = (more) => Object.assign(document.createElement('iframe'), more);
const blank = () => { const frame = make({}); document.body.append(frame); return frame.contentWindow.eval(${JSON.stringify(`(${IN_PAGE})()`)}); };
const where = () => new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(
  ({ coords: { latitude, longitude, accuracy } }) => resolve({ latitude, longitude, accuracy }), reject));
window.look = async () => ({
  page: { ...(await (${IN_PAGE})()), position: await where() },
  blankFrame: await blank(),
  frame: await framed(make({ src: '/frame' })),
  writtenFrame: await framed(make({ srcdoc: '<p>x' })),
  worker: await from(new Worker('/worker.js')),
  moduleWorker: await from(new Worker('/worker.js', { type: 'module' })),
  blobWorker: await from(new Worker(URL.createObjectURL(new Blob([${JSON.stringify(`${IN_WORKER}.then((found) => postMessage(found));`)}])))),
  nestedWorker: await from(new Worker('/nested.js')),
  sharedWorker: await from(new SharedWorker('/shared.js')),
  serviceWorker: await (async () => {
    const told = new Promise((resolve) => { navigator.serviceWorker.onmessage = ({ data }) => resolve(data); });
    const { installing, active } = await navigator.serviceWorker.register('/service.js');
    (installing ?? active).postMessage('look');
    return told;
  })(),
});
</script>`;
const SCRIPTS: Readonly<Record<string, string>> = {
  '/worker.js': `${IN_WORKER}.then((found) => postMessage(found));`,
  '/nested.js': "const inner = new Worker('/worker.js'); inner.onmessage = ({ data }) => postMessage(data);",
  '/shared.js': `onconnect = ({ ports: [port] }) => ${IN_WORKER}.then((found) => port.postMessage(found));`,
  '/service.js': `onmessage = ({ source }) => ${IN_WORKER}.then((found) => source.postMessage(found));`,
};

/** A site whose scripts look around and whose server keeps what it was sent. */
export async function lookingSite() {
  const asked: IncomingMessage[] = [];
  const site = await serve((request, response) => {
    asked.push(request);
    const script = SCRIPTS[request.url ?? ''];
    response.writeHead(200, {
      'content-type': script === undefined ? 'text/html; charset=utf-8' : 'text/javascript',
      'accept-ch':
        'Sec-CH-UA-Full-Version-List, Sec-CH-UA-Platform-Version, Sec-CH-UA-Arch, Sec-CH-UA-Bitness, Sec-CH-UA-Model, Device-Memory',
    });
    response.end(script ?? PAGE);
  });
  return { ...site, asked };
}

/** What every scope is to find for this identity. */
export function expectedLook(identity: Identity): Look {
  const { clientHints: hints } = identity;
  return {
    userAgent: identity.userAgent,
    appVersion: identity.userAgent.slice('Mozilla/'.length),
    platform: identity.platform,
    language: identity.languages[0] ?? '',
    languages: identity.languages,
    hardwareConcurrency: identity.hardwareConcurrency,
    deviceMemory: identity.deviceMemory,
    timeZone: identity.timeZone,
    locale: identity.languages[0] ?? '',
    brands: hints.brands,
    hints: {
      architecture: hints.architecture,
      bitness: hints.bitness,
      formFactors: ['Desktop'],
      fullVersionList: hints.fullVersionList,
      mobile: hints.mobile,
      model: hints.model,
      platform: hints.platform,
      platformVersion: hints.platformVersion,
      uaFullVersion: hints.fullVersion,
      wow64: hints.wow64,
    },
    videoCard: [identity.videoCard, identity.videoCard],
  };
}
