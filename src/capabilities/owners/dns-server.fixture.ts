import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A DNS server on loopback that answers questions for TXT records, and says of all other names that there are none. */
export interface DnsServer {
  readonly address: string;
  close(): void;
}

const TXT = 16;
const NAME_ERROR = 3;

export async function startDnsServer(records: ReadonlyMap<string, readonly string[]>): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const texts = type === TXT ? (records.get(name) ?? null) : null;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (texts === null ? NAME_ERROR : 0), 2);
    head.writeUInt16BE(texts?.length ?? 0, 6);
    head.writeUInt32BE(0, 8);
    const question = query.subarray(12, end + 4);
    socket.send(Buffer.concat([head, question, ...(texts ?? []).map(answer)]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
}

/** A pointer to the name of the question, type, class, life time and the text in pieces of at most 255 octets. */
function answer(text: string): Buffer {
  const pieces = text.match(/.{1,200}/gs) ?? [];
  const data = Buffer.concat(
    pieces.map((piece) => Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece)])),
  );
  const head = Buffer.from([0xc0, 0x0c, 0, TXT, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(
      query
        .subarray(at + 1, at + 1 + length)
        .toString('latin1')
        .toLowerCase(),
    );
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}
