import { choices, type OptionField } from './option-field-types.ts';

/** Options of what is kept of a page, what is read out of it, and how much it may cost. */

export const GET_MAIN = [
  {
    path: 'formats',
    label: 'Formats',
    kind: 'checks',
    choices: choices(
      ['markdown', 'Markdown', 'main content'],
      ['text', 'Text', 'main content'],
      ['html', 'HTML', 'without scripts'],
      ['rawHtml', 'Raw HTML', 'as the server sent it'],
      ['links', 'Links', 'with text and rel'],
      ['metadata', 'Metadata', 'title, OG, JSON-LD'],
      ['content', 'Content', 'author, dates, words'],
      ['structured', 'Structured data', 'in one view'],
      ['screenshot', 'Screenshot', 'needs a browser'],
      ['pdf', 'PDF', 'needs a browser'],
      ['xhr', 'Network', 'needs a browser'],
    ),
  },
  { path: 'onlyMainContent', label: 'Main content only', kind: 'off' },
  { path: 'maxPdfPages', label: 'Pages of a PDF', kind: 'number', placeholder: '500' },
] as const satisfies readonly OptionField[];

export const GET_ADVANCED = [
  {
    path: 'includeTags',
    label: 'Only these elements',
    kind: 'lines',
    hint: 'CSS selectors, one per line.',
    placeholder: 'main\n.reviews',
  },
  {
    path: 'excludeTags',
    label: 'Without these elements',
    kind: 'lines',
    hint: 'CSS selectors, one per line.',
    placeholder: '.advertisement\nfooter',
  },
  { path: 'screenshot.fullPage', label: 'Screenshot of the whole page', kind: 'on' },
  { path: 'screenshot.selector', label: 'Screenshot of one element', kind: 'text', placeholder: '#chart' },
  {
    path: 'screenshot.format',
    label: 'Picture format',
    kind: 'choice',
    choices: choices(['', 'PNG'], ['jpeg', 'JPEG']),
    isHalf: true,
  },
  { path: 'screenshot.quality', label: 'JPEG quality', kind: 'number', placeholder: '80', isHalf: true },
] as const satisfies readonly OptionField[];

export const EXTRACT_MAIN = [
  {
    path: 'extract.type',
    label: 'Read the page as',
    kind: 'choice',
    choices: choices(
      ['', 'No type'],
      ['auto', 'Whatever the evidence says'],
      ['product', 'Product'],
      ['article', 'Article'],
      ['job_posting', 'Job posting'],
      ['recipe', 'Recipe'],
      ['event', 'Event'],
      ['forum_thread', 'Forum thread'],
      ['organization', 'Organization'],
      ['company_website', 'Company website'],
      ['linkedin_profile', 'LinkedIn profile'],
      ['breadcrumbs', 'Breadcrumbs'],
    ),
  },
  {
    path: 'extract.rules',
    label: 'Rules',
    kind: 'json',
    hint: 'Field → CSS selector, or an object. The tab “Picker” writes them by a click.',
    placeholder: '{ "title": "h1", "price": { "css": ".price", "type": "price" } }',
  },
] as const satisfies readonly OptionField[];

export const EXTRACT_ADVANCED = [
  {
    path: 'extract.schema',
    label: 'JSON Schema',
    kind: 'json',
    hint: 'What the rules found is checked against it.',
    placeholder: '{ "required": ["title"] }',
  },
  {
    path: 'extract.llm',
    label: 'Language model',
    kind: 'choice',
    hint: 'Asks the model of the settings for required fields that the rules left empty.',
    choices: choices(['', 'Not asked'], ['true', 'Fills gaps'], ['derived', 'Fills gaps and judges']),
  },
] as const satisfies readonly OptionField[];

export const LIMITS_MAIN = [
  { path: 'timeoutMs', label: 'One attempt, ms', kind: 'number', placeholder: '30000', isHalf: true },
  { path: 'maxAttempts', label: 'Attempts', kind: 'number', placeholder: '3', isHalf: true },
  {
    path: 'maxAge',
    label: 'A stored page may answer',
    kind: 'text',
    hint: 'If it is no older than this: 2h, 30m, or milliseconds.',
    placeholder: '0',
  },
] as const satisfies readonly OptionField[];

export const LIMITS_ADVANCED = [
  {
    path: 'reuse',
    label: 'The page may answer later requests',
    kind: 'off',
    hint: 'Those that take a stored page by its age.',
  },
  { path: 'taskTimeoutMs', label: 'All attempts, ms', kind: 'number', placeholder: '60000', isHalf: true },
  {
    path: 'maxBodyBytes',
    label: 'Largest body, bytes',
    kind: 'number',
    placeholder: '10485760',
    isHalf: true,
  },
  { path: 'snapshots', label: 'Keep each version of the page', kind: 'on' },
  { path: 'search', label: 'Findable by the full-text search', kind: 'on' },
  { path: 'lake', label: 'Write to the lake, for SQL', kind: 'on' },
  {
    path: '*',
    label: 'Other fields of the request',
    kind: 'json',
    hint: 'As in the API’s documentation: exports, retention, webhook, async, inline, engines of plug-ins.',
    placeholder: '{ "retention": { "bodies": "24h" } }',
  },
] as const satisfies readonly OptionField[];
