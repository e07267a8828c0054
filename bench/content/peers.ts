/** Another program that finds the main content of a page. */
export interface Peer {
  readonly name: string;
  /** The length of what it found; it is asked for nothing but the content. */
  run(html: string, url: string): Promise<number>;
}

interface Linkedom {
  parseHTML(html: string): { document: unknown };
}
interface DefuddleModule {
  Defuddle(document: unknown, url: string, options: object): Promise<{ content: string }>;
}
interface JsdomModule {
  JSDOM: new (html: string, options: object) => { window: { document: unknown; close(): void } };
}
interface ReadabilityModule {
  Readability: new (document: unknown) => { parse(): { content?: string | null } | null };
}

/** Those that are installed. They are not among the packages of the project, so their names are not known to the compiler. */
export async function installedPeers(): Promise<Peer[]> {
  const peers = await Promise.all([defuddle(), readability()]);
  return peers.filter((peer) => peer !== null);
}

async function load<Module>(name: string): Promise<Module | null> {
  try {
    return (await import(name)) as Module;
  } catch {
    return null;
  }
}

async function defuddle(): Promise<Peer | null> {
  const linkedom = await load<Linkedom>('linkedom');
  const module = await load<DefuddleModule>('defuddle/node');
  if (linkedom === null || module === null) return null;
  return {
    name: 'defuddle + linkedom',
    async run(html, url) {
      const { document } = linkedom.parseHTML(html);
      return (await module.Defuddle(document, url, {})).content.length;
    },
  };
}

async function readability(): Promise<Peer | null> {
  const jsdom = await load<JsdomModule>('jsdom');
  const module = await load<ReadabilityModule>('@mozilla/readability');
  if (jsdom === null || module === null) return null;
  return {
    name: 'readability + jsdom',
    async run(html, url) {
      const { window } = new jsdom.JSDOM(html, { url });
      const found = new module.Readability(window.document).parse()?.content?.length ?? 0;
      window.close();
      return found;
    },
  };
}
