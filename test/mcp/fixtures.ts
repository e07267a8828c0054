import { fromJsonSchema, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { text } from '../../src/http/mcp/tool.ts';

/** A PNG of one red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** The header of a sound without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const embedded = (uri: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'An embedded resource.' } }) as const;

/** The keywords of JSON Schema 2020-12 that the suite looks for in the list of tools. */
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

/** Adds the tools, resources and prompts by which the conformance suite tries a server; their names are those of the suite. */
export function addConformanceFixtures(server: McpServer): void {
  const returns = (name: string, content: readonly object[], isError = false) =>
    server.registerTool(name, { description: 'Of the conformance suite.' }, async () => ({
      content: content as never,
      ...(isError ? { isError } : {}),
    }));
  returns('test_simple_text', [text('This is a simple text response for testing.')]);
  returns('test_image_content', [image]);
  returns('test_audio_content', [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
  returns('test_embedded_resource', [embedded('test://embedded-resource')]);
  returns('test_multiple_content_types', [text('Several'), image, embedded('test://mixed-content-resource')]);
  returns('test_error_handling', [text('This tool intentionally returns an error for testing')], true);
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Of the conformance suite.', inputSchema: fromJsonSchema(SCHEMA) },
    async () => ({ content: [text('done')] }),
  );
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Of the conformance suite.' },
    async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: progressToken as string, progress, total: 100 },
        });
      }
      return { content: [text('done')] };
    },
  );

  const about = { description: 'Of the conformance suite.' };
  server.registerResource('static text', 'test://static-text', about, async ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('static binary', 'test://static-binary', about, async ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: PNG }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    about,
    async ({ href: uri }, { id }) => ({
      contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ${id}` }) }],
    }),
  );
  server.registerPrompt('test_simple_prompt', about, async () => ({
    messages: [{ role: 'user', content: text('This is a simple prompt for testing.') }],
  }));
}
