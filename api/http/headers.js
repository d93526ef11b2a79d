import helmet from 'helmet';

/**
 * What every answer says to browsers. Nothing of ours but its pages is meant to be shown, and these bring a policy of
 * their own, which goes before this one. No answer has an `Access-Control-` header: pages of other origins read nothing.
 *
 * @param {{ encrypted: boolean }} options whether this server itself speaks TLS: what ends it elsewhere speaks for itself
 * @returns {import('express').RequestHandler}
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
