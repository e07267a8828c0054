import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface GivenCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly token: string;
  readonly expiresAt: number;
}

/** Answers one request: a status and a body. */
type Answer = readonly [status: number, body: string];

export interface CredentialServer {
  readonly origin: string;
  /** `METHOD path` of every request. */
  readonly requests: string[];
}

async function serve(answer: (request: IncomingMessage, body: string) => Answer): Promise<CredentialServer> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const [status, body] = answer(request, await text(request));
    response.writeHead(status).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const asJson = ({ accessKeyId, secretAccessKey, token, expiresAt }: GivenCredentials) =>
  JSON.stringify({
    Code: 'Success',
    Type: 'AWS-HMAC',
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: token,
    Expiration: new Date(expiresAt).toISOString(),
  });

/** The endpoint that ECS and EKS give to a container: one GET, with the token of the container. Null: it fails. */
export function containerServer(
  give: () => GivenCredentials | null,
  authorization: string,
): Promise<CredentialServer> {
  return serve(({ method, url, headers }) => {
    if (method !== 'GET' || url !== '/role') return [404, ''];
    if (headers.authorization !== authorization) return [401, ''];
    const credentials = give();
    return credentials === null ? [500, ''] : [200, asJson(credentials)];
  });
}

/** The metadata service of an EC2 instance, version 2: a session token first, then the role, then its credentials. */
export function instanceServer(give: () => GivenCredentials): Promise<CredentialServer> {
  const SESSION = 'metadata-session';
  const ROLES = '/latest/meta-data/iam/security-credentials/';
  return serve(({ method, url, headers }) => {
    if (method === 'PUT' && url === '/latest/api/token')
      return headers['x-aws-ec2-metadata-token-ttl-seconds'] === undefined ? [400, ''] : [200, SESSION];
    if (headers['x-aws-ec2-metadata-token'] !== SESSION) return [401, ''];
    if (url === ROLES) return [200, 'scraper-role'];
    return url === `${ROLES}scraper-role` ? [200, asJson(give())] : [404, ''];
  });
}

/** The security token service, which exchanges the token of a web identity for credentials of a role. */
export function tokenServer(
  give: () => GivenCredentials,
  expected: { readonly token: string; readonly role: string },
): Promise<CredentialServer> {
  return serve((_, body) => {
    const form = new URLSearchParams(body);
    const isRight =
      form.get('Action') === 'AssumeRoleWithWebIdentity' &&
      form.get('WebIdentityToken') === expected.token &&
      form.get('RoleArn') === expected.role;
    if (!isRight)
      return [
        403,
        '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code></Error></ErrorResponse>',
      ];
    const { accessKeyId, secretAccessKey, token, expiresAt } = give();
    return [
      200,
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <AssumeRoleWithWebIdentityResult><Credentials>
          <AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>
          <SessionToken>${token}</SessionToken><Expiration>${new Date(expiresAt).toISOString()}</Expiration>
        </Credentials></AssumeRoleWithWebIdentityResult>
      </AssumeRoleWithWebIdentityResponse>`,
    ];
  });
}
