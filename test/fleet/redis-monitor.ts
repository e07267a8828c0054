import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

export interface RedisMonitor {
  close(): void;
}

/**
 * Reports every command that a Redis receives, as its words in one line. Speaks the protocol by itself: ioredis takes
 * commands of other clients that come together with the reply to MONITOR for replies to commands of its own, and throws.
 */
export async function monitorRedis(url: string, onCommand: (words: string) => void): Promise<RedisMonitor> {
  const { hostname, port, password } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const lines = createInterface({ input: socket });
  const replies: string[] = [];
  const isMonitoring = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    const expected = password === '' ? 1 : 2;
    lines.on('line', (line) => {
      if (replies.length === expected) {
        const words = line.slice(line.indexOf('"') + 1, -1).split('" "');
        onCommand(words.map((word) => word.replaceAll('\\"', '"')).join(' '));
        return;
      }
      replies.push(line);
      if (line !== '+OK') reject(new Error(`Redis does not let itself be monitored: ${line}`));
      else if (replies.length === expected) resolve();
    });
  });
  if (password !== '') socket.write(`AUTH ${decodeURIComponent(password)}\r\n`);
  socket.write('MONITOR\r\n');
  await isMonitoring;
  return { close: () => socket.destroy() };
}
