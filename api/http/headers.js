import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** @import { RequestHandler } from 'express' */

/**
 * What every answer says to browsers. Nothing of ours but its pages is meant to be shown, and these bring a policy of
 * their own, which goes before this one. No answer has an `Access-Control-` header: pages of other origins read nothing.
 *
 * @param {{ encrypted: boolean }} options whether this server itself speaks TLS: what ends it elsewhere speaks for itself
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
 * The same for what is written without an app.
 *
 * @param {{ encrypted: boolean }} options
 * @returns {string[]} lines of a header
 */
export function safeHeaderLines(options) {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  // helmet asks neither for anything of Express.
  const handler = /** @type {(req: IncomingMessage, res: ServerResponse, next: () => void) => void} */ (
    /** @type {unknown} */ (safeHeaders(options))
  );
  handler(req, res, () => {});
  return Object.entries(res.getHeaders()).map(([name, value]) => `${name}: ${value}`);
}
