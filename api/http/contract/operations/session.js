import { json } from '../operation.js';
import { PAYLOADS } from '../payloads.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

/** @type {Operation} */
export const beginSession = {
  id: 'beginSession',
  tag: 'access',
  scope: 'open',
  summary: 'Signs in, for a browser',
  description: `Takes a token that may read, and answers with a cookie that stands for it until \`ends_at\`, or until the token is taken out of the
settings. A request that changes something by this cookie must come from a page of the same origin. Programs show the token
itself, as a bearer, and need no session.`,
  body: json(PAYLOADS.SignIn),
  answers: { 200: json(SCHEMAS.Session) },
  problems: ['bad_parameter', 'malformed', 'too_large', 'unauthorized', 'forbidden', 'unknown_format'],
};

/** @type {Operation} */
export const readSession = {
  id: 'readSession',
  tag: 'access',
  scope: 'open',
  summary: 'What whoever asks may do, and until when',
  answers: { 200: json(SCHEMAS.Session) },
  problems: ['bad_parameter', 'unauthorized'],
};

/** @type {Operation} */
export const endSession = {
  id: 'endSession',
  tag: 'access',
  scope: 'open',
  summary: 'Signs out, for a browser',
  description:
    'Takes the cookie away. A copy of it would be good until its end: to end all sessions of a token, take the token out of the settings.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'forbidden'],
};
