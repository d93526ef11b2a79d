import type { RequestHandler } from 'express';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime } from '../../../common/times.ts';
import type { Access, Caller } from '../../access/http/index.ts';
import { readJsonText } from '../body.ts';
import { json, type Operation } from '../contract/operation.ts';
import { PAYLOADS } from '../contract/payloads.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import { readQuery } from '../parameters.ts';
import type { Route, RouteCore } from '../route.ts';

/** In bytes. The longest token, all characters escaped, fits. */
const MAX_BYTES = 32 * 1024;

export const postSession =
  ({ http: { access } }: Pick<RouteCore, 'http'>): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { token } = readSignIn(await readJsonText(req, res, MAX_BYTES));
    res.json(sessionItem(access, await access.signIn(req, res, token)));
  };

export const getSession =
  ({ http: { access } }: Pick<RouteCore, 'http'>): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    res.json(sessionItem(access, await access.callerOf(req, res)));
  };

export const deleteSession =
  ({ http: { access } }: Pick<RouteCore, 'http'>): RequestHandler =>
  (req, res) => {
    readQuery(req, {});
    access.signOut(req, res);
    res.status(204).end();
  };

/** @throws `malformed` */
function readSignIn(text: string): { token: string } {
  try {
    return PAYLOADS.SignIn.parse(JSON.parse(text));
  } catch (error) {
    throw new MillraceError('malformed', 'Send only {"token": "…"}.', { cause: error });
  }
}

const sessionItem = ({ isRequired }: Access, { scopes, endsAt, fingerprint }: Caller) => ({
  required: isRequired,
  scopes,
  token: fingerprint,
  ends_at: endsAt === null ? null : formatTime(endsAt),
});

export const beginSession: Operation = {
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

export const readSession: Operation = {
  id: 'readSession',
  tag: 'access',
  scope: 'open',
  summary: 'The scopes of the caller, and the end of its session',
  answers: { 200: json(SCHEMAS.Session) },
  problems: ['bad_parameter', 'unauthorized'],
};

export const endSession: Operation = {
  id: 'endSession',
  tag: 'access',
  scope: 'open',
  summary: 'Ends the session of a browser',
  description:
    'Removes the cookie. A copy of the cookie stays valid until its end. To end all sessions of a token, remove the token from the settings.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'forbidden'],
};

export const routes: Array<Route<Pick<RouteCore, 'http'>>> = [
  { method: 'post', path: '/api/v1/session', operation: beginSession, handler: postSession },
  { method: 'get', path: '/api/v1/session', operation: readSession, handler: getSession },
  { method: 'delete', path: '/api/v1/session', operation: endSession, handler: deleteSession },
];
