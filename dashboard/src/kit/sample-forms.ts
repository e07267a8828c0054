/** A request of the API that a sample of code sends. */
export interface SampleRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, such as `/v1/jobs?limit=10`. */
  readonly path: string;
  readonly body?: unknown;
}

export interface SampleForm {
  readonly name: string;
  readonly text: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curlForm({ method, path, body }: SampleRequest): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(location.origin + path)}`,
    `-H 'Authorization: Bearer YOUR_KEY'`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** The request in each form that exists for it. */
export const sampleForms = (request: SampleRequest): readonly SampleForm[] => [
  { name: 'curl', text: curlForm(request) },
];
