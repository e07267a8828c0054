import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The message as it came, without the dot at its end. */
  readonly data: string;
  readonly login: string | null;
}

/** A mail server that takes messages as RFC 5321 says, without TLS. */
export interface SmtpServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The answer to RCPT from now on; null: it is accepted. */
  refuse(answer: string | null): void;
  /** Takes the message and never says so. */
  hang(isHanging: boolean): void;
  close(): Promise<void>;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let refusal: string | null = null;
  let isHanging = false;

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const say = (line: string) => socket.write(`${line}\r\n`);
    let [from, login, rest, isData] = ['', null as string | null, '', false];
    let to: string[] = [];
    const commands: Readonly<Record<string, (line: string) => void>> = {
      EHLO: () => say('250-mail.example\r\n250 AUTH PLAIN'),
      HELO: () => say('250 mail.example'),
      AUTH: (line) => {
        login = Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString('utf8')
          .split('\0')
          .slice(1)
          .join(':');
        say('235 welcome');
      },
      MAIL: (line) => {
        from = /<(.*?)>/.exec(line)?.[1] ?? '';
        say('250 fine');
      },
      RCPT: (line) => {
        if (refusal !== null) return void say(refusal);
        to.push(/<(.*?)>/.exec(line)?.[1] ?? '');
        say('250 fine');
      },
      DATA: () => {
        isData = true;
        say('354 go on');
      },
      QUIT: () => socket.end('221 bye\r\n'),
      RSET: () => say('250 fine'),
    };
    say('220 mail.example ESMTP');
    socket.on('data', (chunk) => {
      rest += chunk.toString('utf8');
      for (;;) {
        const end = isData ? rest.indexOf('\r\n.\r\n') : rest.indexOf('\r\n');
        if (end === -1) return;
        const line = rest.slice(0, end);
        rest = rest.slice(end + (isData ? 5 : 2));
        if (!isData) {
          (commands[line.slice(0, 4).toUpperCase()] ?? (() => say('502 what?')))(line);
          continue;
        }
        isData = false;
        if (isHanging) return;
        mails.push({ from, to, data: line, login });
        to = [];
        say('250 queued as 1');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    mails,
    refuse(answer) {
      refusal = answer;
    },
    hang(isSilent) {
      isHanging = isSilent;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
