import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { audit } from '../audit.js';
import { readJsonText } from '../body.js';
import { json, PAGED } from '../contract/operation.js';
import { PAYLOADS } from '../contract/payloads.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { fields, readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { Issued } from '../../access/credentials/credential-service.js' */
/** @import { NewCredential } from '../../store/credentials.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

export const LIST = { limit: fields.limit, cursor: fields.cursor };

/** Limit of a request body, in bytes. A thousand of the longest names, all characters escaped, fit. */
const MAX_BYTES = 1024 * 1024;

const SCOPE = JSON.stringify(['credentials']);

/**
 * `GET /credentials`: lists the accounts of devices, page by page.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getCredentials =
  ({ credentials, cursors }) =>
  async (req, res) => {
    const { limit, cursor } = readQuery(req, LIST);
    const after = cursor === undefined ? null : cursors.open(SCOPE, cursor);
    const { rows, next } = await credentials.page({ after, limit });
    res.json({ items: rows.map(credentialItem), next: next && cursors.seal(SCOPE, next) });
  };

/**
 * `POST /credentials`: issues a credential to a device.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const postCredential =
  ({ credentials, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const issued = await credentials.issue(readWanted(await readJsonText(req, res, MAX_BYTES)));
    audit(logger, res, 'a credential was issued', issued.credential.account);
    res.status(201).json(issuedItem(issued));
  };

/**
 * `POST /credentials/{device}/rotate`: replaces the secret of an account.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const postRotation =
  ({ credentials, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const issued = await credentials.rotate(String(req.params['device']));
    audit(logger, res, 'a credential was rotated', issued.credential.account);
    res.json(issuedItem(issued));
  };

/**
 * `DELETE /credentials/{device}`: revokes a credential.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const deleteCredential =
  ({ credentials, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const account = String(req.params['device']);
    await credentials.revoke(account);
    audit(logger, res, 'a credential was revoked', account);
    res.status(204).end();
  };

/** @param {string} text @returns {{ account: string, devices?: string[] }} @throws {MillraceError} `malformed` */
function readWanted(text) {
  try {
    return PAYLOADS.WantedCredential.parse(JSON.parse(text));
  } catch (error) {
    const message = 'Send only {"account": "…"}, and "devices": ["…"] for a gateway.';
    throw new MillraceError('malformed', message, { cause: error });
  }
}

/** @param {NewCredential} credential */
const credentialItem = ({ deviceId, account, devices, issuedAt, changedAt }) => ({
  device_id: deviceId,
  account,
  devices,
  issued_at: formatTime(issuedAt),
  changed_at: formatTime(changedAt),
});

/** @param {Issued} issued */
const issuedItem = ({ credential, secret }) => ({ ...credentialItem(credential), secret });

const ONCE = 'Only this answer contains the secret. The database keeps a salted hash.';

/** @type {Operation} */
export const listCredentials = {
  id: 'listCredentials',
  tag: 'credentials',
  scope: 'admin',
  summary: 'The accounts of devices, page by page',
  description: 'Accounts with a valid credential. A page may be short before the end.',
  query: LIST,
  answers: { 200: json(SCHEMAS.CredentialPage) },
  problems: PAGED,
};

/** @type {Operation} */
export const issueCredential = {
  id: 'issueCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Issues a credential to a device',
  description: `The device signs in to the broker with \`account\` as user name and the secret as password. It may then publish and subscribe to
its own topics. A gateway may use the topics of the listed devices too. ${ONCE} The device need not be registered yet.`,
  body: json(PAYLOADS.WantedCredential),
  answers: { 201: json(SCHEMAS.IssuedCredential) },
  problems: [
    'bad_parameter',
    'bad_id',
    'malformed',
    'too_large',
    'unknown_format',
    'credential_exists',
    'unavailable',
  ],
};

/** @type {Operation} */
export const rotateCredential = {
  id: 'rotateCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Replaces the secret of an account',
  description: `The old secret is invalid at once. Clients that are connected with it are disconnected within half a minute. ${ONCE}`,
  answers: { 200: json(SCHEMAS.IssuedCredential) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const revokeCredential = {
  id: 'revokeCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Revokes the credential of a device',
  description:
    'Clients that are connected with it are disconnected within half a minute. Retiring a device also revokes its credential.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};
