import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { type RequestOptions, request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { checkServerIdentity, rootCertificates } from 'node:tls';

/**
 * The server must present the certificate of the settings, or another certificate for the same host by the same
 * authority. So the settings need no file of the authority, and DNS needs no name for this machine.
 * @throws {Error} when the server does not answer, or presents the certificate of another server
 */
export async function askLocalApi(
  url: string,
  {
    token,
    certificate,
    body,
    withinMs,
  }: {
    token?: string;
    /** path in HTTP_TLS_CERT, required if the URL is https */
    certificate?: string;
    /** content that is posted; without it, the request is a GET */
    body?: { type: string; content: string };
    withinMs: number;
  },
): Promise<{ status: number; text: string }> {
  const options = {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': body.type }),
    },
    signal: AbortSignal.timeout(withinMs),
  };
  const asked = certificate
    ? requestTls(url, { ...options, ...trustOnly(readFileSync(certificate)) })
    : request(url, options);
  asked.end(body?.content);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}

function trustOnly(pem: Buffer): RequestOptions {
  const host = firstHost(new X509Certificate(pem));
  return {
    agent: false,
    ca: [...rootCertificates, pem.toString()],
    rejectUnauthorized: true,
    // The file may hold only the certificate of the server, without its authority. This option trusts that certificate by itself.
    allowPartialTrustChain: true,
    checkServerIdentity: (_address, shown) => checkServerIdentity(host, shown),
  };
}

/** @returns a host name for which the certificate is valid */
function firstHost({ subjectAltName = '' }: X509Certificate): string {
  const [, host = ''] = /(?:DNS|IP Address):([^,\s]+)/.exec(subjectAltName) ?? [];
  return host.replace(/^\*\./, 'any.');
}
