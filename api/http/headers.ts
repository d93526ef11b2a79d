import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** @import { RequestHandler } from 'express' */

/**
 * Returns middleware that sets the security headers of every answer. Only the pages of the dashboard are meant to be shown, and
 * they replace this policy by their own policy. No answer has an `Access-Control-` header, so pages of other origins can read
 * nothing.
 *
 * @param {{ encrypted: boolean }} options whether this server ends TLS; a proxy that ends TLS sends its own header
 * @returns {RequestHandler}
 */
export const safeHeaders = ({ encrypted }) =>
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
    // No browser of today acts on these, and a page loads ten answers.
    dnsPrefetchControl: false,
    ieNoOpen: false,
    originAgentCluster: false,
    permittedCrossDomainPolicies: false,
    xXssProtection: false,
  });

/**
 * Returns the security headers of `safeHeaders` for answers that are written without the app.
 *
 * @param {{ encrypted: boolean }} options
 * @returns {string[]} header lines
 */
export function safeHeaderLines(options) {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  // helmet uses only Node's properties of `req` and `res`, no properties of Express.
  const handler = /** @type {(req: IncomingMessage, res: ServerResponse, next: () => void) => void} */ (
    /** @type {unknown} */ (safeHeaders(options))
  );
  handler(req, res, () => {});
  return Object.entries(res.getHeaders()).map(([name, value]) => `${name}: ${value}`);
}
