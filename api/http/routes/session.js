import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { bodyOf } from '../body.js';
import { PAYLOADS } from '../contract/payloads.js';
import { readQuery } from '../parameters.js';

/** A token of the greatest length, escaped, in bytes. */
const MOST_BYTES = 32 * 1024;

/**
 * `POST /session`: signs in.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const postSession =
  ({ access }) =>
  async (req, res) => {
    readQuery(req, {});
    const { read } = bodyOf(req, res, MOST_BYTES);
    if (!req.is('application/json')) throw new MillraceError('unknown_format', 'Send application/json.');
    const { token } = readSignIn(String(await read()));
    res.json(sessionItem(access, await access.signIn(req, res, token)));
  };

/**
 * `GET /session`: what whoever asks may do.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
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
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
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
    throw new MillraceError('malformed', 'Send {"token": "…"} and nothing else.', { cause: error });
  }
}

/** @param {import('../../access/http/index.js').Access} access @param {import('../../access/http/index.js').Caller} caller */
const sessionItem = ({ isRequired }, { scopes, endsAt }) => ({
  required: isRequired,
  scopes,
  ends_at: endsAt === null ? null : formatTime(endsAt),
});
