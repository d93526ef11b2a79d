import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * Only the pages of the dashboard are meant to be shown, and they replace this policy by their own. No answer has an `Access-Control-`
 * header, so pages of other origins can read nothing. `encrypted`: this server ends TLS; a proxy that ends TLS sends its own header.
 */
export const safeHeaders = ({ encrypted }: { encrypted: boolean }): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: encrypted,
    // The dashboard loads ten answers and needs none of these: it links to no other host, and browsers of today isolate origins themselves.
    dnsPrefetchControl: false,
    ieNoOpen: false,
    originAgentCluster: false,
    permittedCrossDomainPolicies: false,
    xXssProtection: false,
  });

export function safeHeaderLines(options: { encrypted: boolean }): string[] {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  // helmet uses only Node's properties of `req` and `res`, no properties of Express.
  const handler = safeHeaders(options) as unknown as (
    req: IncomingMessage,
    res: ServerResponse,
    next: () => void,
  ) => void;
  handler(req, res, () => {});
  return Object.entries(res.getHeaders()).map(([name, value]) => `${name}: ${value}`);
}
