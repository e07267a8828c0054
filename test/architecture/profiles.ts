/**
 * Integration tests run in both profiles, embedded and on the servers of a fleet, because what a crawl does must not
 * depend on the drivers. These run in the embedded one only. Each has its reason: which part it shows, and why that part
 * uses no driver that differs, or which test shows the same on the servers.
 */
export const EMBEDDED_ONLY: Readonly<Record<string, string>> = {
  'bad-folder': 'a data folder, which a fleet has not',
  'browser-options': 'options of browsers; they end in the render process, before anything is stored',
  'busy-browsers': 'places of the browsers of one process; test/fleet/render.test.ts has those of a fleet',
  cli: 'commands on a data folder',
  'cli-accounts': 'commands on a data folder',
  'cli-api': 'commands that ask a server, whose answers are the same in both profiles',
  'cli-backup': 'a data folder; test/fleet/move.test.ts has servers',
  'cli-crawl': 'commands on a data folder',
  'cli-drain': 'commands on a data folder',
  'cli-extract': 'commands that store nothing',
  'cli-login': 'commands on a data folder',
  'cli-options': 'options of commands, which are read before anything is stored',
  'cli-output': 'what commands print',
  'cli-query': 'commands on a data folder; test/integration/search.test.ts has both stores',
  'cli-serve': 'a server with a data folder; test/fleet/roles.test.ts has those of a fleet',
  'cli-shell': 'commands that store nothing',
  'credential-theft': 'which requests get secrets; decided before anything is stored',
  extraction: 'fields that are read from a page in its thread, before the page is stored',
  'full-disk': 'the disk of a data folder; test/fleet/full-store.test.ts has full servers',
  hostile: 'hostile servers on the network; requests end before anything is stored',
  'javascript-pages': 'pages that scripts fill; test/fleet/render-browser.test.ts has the workers of a fleet',
  login: 'forms that are filled in; the contract suite of sessions has both stores',
  library: 'the library, which works in a data folder alone',
  'lost-browser': 'the browsers of one process; test/fleet/render-browser.test.ts has those of a fleet',
  'mcp-alone': 'commands on a data folder',
  'page-killers': 'the browsers of one process',
  'page-options': 'options of one request, which are decided before anything is stored',
  plugins: 'code of plug-ins, which ends before anything is stored; their names are text in both stores',
  proxies: 'the way of requests through proxies, before anything is stored',
  rendering: 'what browsers bring; the contract suites of bodies and of transit have both drivers',
  robots: 'which URLs robots.txt forbids; the contract suite has what both stores keep of the files',
  scope: 'which URLs belong to a crawl; decided in the thread of the page',
};
