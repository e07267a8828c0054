import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { type ApiCall, pathWithQuery } from '../../mcp/api-call.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import { FLAGS } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { DefineCommand } from '../shell/shell.ts';

const EXAMPLES = `
Serves the Model Context Protocol on standard input and output, for assistants that start a program. It calls the API of a
server; scopes, limits and credits of the key apply. A server itself serves the protocol at /mcp.

Examples:
  scrapifie mcp --api http://127.0.0.1:3000 --api-key sk_…
  SCRAPIFIE_API_URL=http://127.0.0.1:3000 SCRAPIFIE_API_KEY=sk_… scrapifie mcp`;

export const define: DefineCommand = (command, shell) => {
  command
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (flags: BackendFlags) => {
      const client = apiClientOf(shell, flags);
      if (client === null) {
        throw new ScrapifieError(
          'INVALID_USAGE',
          'Name the server whose pages and jobs are meant: --api URL.',
        );
      }
      const [{ serveStdio }, { createMcpServer }, { DEFAULT_TOOLS }] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../../mcp/mcp-server.ts'),
        import('../../mcp/tools.ts'),
      ]);
      const api: ApiCall = async (request) =>
        client.answer(request.method, pathWithQuery(request), request.body, request.signal);
      const interrupts = watchInterrupts();
      const ended = new Promise<void>((resolve) => {
        process.stdin.once('end', resolve);
        interrupts.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      const handle = serveStdio(() => createMcpServer(api, DEFAULT_TOOLS), {
        onerror: (error) => void shell.stderr.write(`${error.message}\n`),
      });
      await ended;
      await handle.close();
      interrupts.close();
    });
};
