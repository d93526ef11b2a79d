import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** @import { RequestHandler } from 'express' */

/**
 * The security headers of every answer. Only the pages of the dashboard are meant to be shown; they replace this policy by their
 * own. No answer has an `Access-Control-` header, so pages of other origins can read nothing.
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
  });

/**
 * Makes the same security headers for answers that are written without the app.
 *
 * @param {{ encrypted: boolean }} options
 * @returns {string[]} lines of a header
 */
export function safeHeaderLines(options) {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  // helmet uses no property of Express in the two objects.
  const handler = /** @type {(req: IncomingMessage, res: ServerResponse, next: () => void) => void} */ (
    /** @type {unknown} */ (safeHeaders(options))
  );
  handler(req, res, () => {});
  return Object.entries(res.getHeaders()).map(([name, value]) => `${name}: ${value}`);
}
