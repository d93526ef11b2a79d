import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { readJsonText } from '../body.js';
import { json } from '../contract/operation.js';
import { PAYLOADS } from '../contract/payloads.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { Access, Caller } from '../../access/http/index.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

/** Limit of a request body, in bytes. The longest token, all characters escaped, fits. */
const MAX_BYTES = 32 * 1024;

/**
 * `POST /session`: signs in.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const postSession =
  ({ access }) =>
  async (req, res) => {
    readQuery(req, {});
    const { token } = readSignIn(await readJsonText(req, res, MAX_BYTES));
    res.json(sessionItem(access, await access.signIn(req, res, token)));
  };

/**
 * `GET /session`: returns the scopes of the caller.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getSession =
  ({ access }) =>
  async (req, res) => {
    readQuery(req, {});
    res.json(sessionItem(access, await access.callerOf(req, res)));
  };

/**
 * `DELETE /session`: signs out.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const deleteSession =
  ({ access }) =>
  (req, res) => {
    readQuery(req, {});
    access.signOut(req, res);
    res.status(204).end();
  };

/** @param {string} text @returns {{ token: string }} @throws {MillraceError} `malformed` */
function readSignIn(text) {
  try {
    return PAYLOADS.SignIn.parse(JSON.parse(text));
  } catch (error) {
    throw new MillraceError('malformed', 'Send only {"token": "…"}.', { cause: error });
  }
}

/** @param {Access} access @param {Caller} caller */
const sessionItem = ({ isRequired }, { scopes, endsAt }) => ({
  required: isRequired,
  scopes,
  ends_at: endsAt === null ? null : formatTime(endsAt),
});

/** @type {Operation} */
export const beginSession = {
  id: 'beginSession',
  tag: 'access',
  scope: 'open',
  summary: 'Starts the session of a browser',
  description: `Takes a token of scope \`read\` or \`admin\` and answers with a cookie. The cookie is valid until \`ends_at\`, or until the token is removed from the
settings. A request that changes data with this cookie must come from a page of the same origin. Programs send the token
itself as a bearer token and need no session.`,
  body: json(PAYLOADS.SignIn),
  answers: { 200: json(SCHEMAS.Session) },
  problems: ['bad_parameter', 'malformed', 'too_large', 'unauthorized', 'forbidden', 'unknown_format'],
};

/** @type {Operation} */
export const readSession = {
  id: 'readSession',
  tag: 'access',
  scope: 'open',
  summary: 'The scopes of the caller, and the end of its session',
  answers: { 200: json(SCHEMAS.Session) },
  problems: ['bad_parameter', 'unauthorized'],
};

/** @type {Operation} */
export const endSession = {
  id: 'endSession',
  tag: 'access',
  scope: 'open',
  summary: 'Ends the session of a browser',
  description:
    'Removes the cookie. A copy of the cookie stays valid until its end. To end all sessions of a token, remove the token from the settings.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'forbidden'],
};
