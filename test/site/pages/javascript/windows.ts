import { type Answer, html, type SiteRequest } from '../../exchange.ts';
import { addressAt } from '../../hosts.ts';
import { documentOf } from '../../layout.ts';
import { PREFIX, shellOf } from './shell.ts';

/** A page that opens everything a page can open: another window, frames of its own and of another host, a socket. */
export const SOCKET_PATH = `${PREFIX}socket`;
/** The message of the socket to each client. */
export const SOCKET_GREETING = 'Hello from the socket';

const windowsPage = ({ port }: SiteRequest): Answer => {
  const other = `http://${addressAt(0)}:${port}`;
  return html(
    shellOf({
      title: 'Windows, frames and a socket',
      script: `add('h1', document.title);
const missing = new Set(['own frame', 'other frame', 'socket']);
const came = (name, words) => {
  add('p', name + ': ' + words);
  missing.delete(name);
  if (missing.size === 0) add('p', 'All of them came.').id = 'all';
};
onmessage = ({ data }) => came(data.name, data.words);
window.open('${PREFIX}frame/popup');
for (const [name, from] of [['own', ''], ['other', '${other}']]) {
  add('iframe', '').src = from + '${PREFIX}frame/' + name;
}
const socket = new WebSocket('ws://' + location.host + '${SOCKET_PATH}');
socket.onmessage = ({ data }) => {
  came('socket', data);
  socket.close();
};`,
    }),
  );
};

const FRAMES: readonly string[] = ['own', 'other', 'popup'];

export function answerFrame(name: string | undefined): Answer | null {
  if (name === undefined || !FRAMES.includes(name)) return null;
  return html(
    documentOf({
      title: `Frame ${name}`,
      body: `<p>In here.</p>
<script>(opener ?? parent).postMessage({ name: '${name} frame', words: 'I am a frame' }, '*');</script>`,
    }),
  );
}

export const WINDOW_PAGES: Readonly<Record<string, (request: SiteRequest) => Answer>> = {
  windows: windowsPage,
};
