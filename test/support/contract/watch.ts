import { z } from 'zod';
import { EVENTS } from '../../../api/http/routes/latest.js';
import { objectionTo } from './answers.js';

/** @import { Answer } from './answers.js' */

/** Answers that violate the contract, since the last call of `settleWatch`. @type {Set<string>} */
const objections = new Set();

/** @type {Set<Promise<void>>} */
const pendingChecks = new Set();

/** @param {Answer} answer */
export function watchAnswer(answer) {
  const objection = objectionTo(answer);
  if (objection) objections.add(objection);
}

/** @param {{ event: string, data: unknown }} event of `/stream` */
export function watchEvent({ event, data }) {
  const schema = EVENTS[event];
  const error = schema ? schema.safeParse(data).error : null;
  if (!schema) objections.add(`The event ${event} of /stream is not described.`);
  if (error) objections.add(`The event ${event} of /stream: ${z.prettifyError(error).slice(0, 500)}`);
}

/** @param {() => Promise<void>} check an answer that has not arrived yet */
export function watchLater(check) {
  // A page that closes before the end of an answer leaves nothing to check.
  const pending = check().catch(() => {});
  pendingChecks.add(pending);
  void pending.then(() => pendingChecks.delete(pending));
}

/** @throws {Error} for answers that the document does not describe */
export async function settleWatch() {
  await Promise.all(pendingChecks);
  const found = [...objections];
  objections.clear();
  if (found.length > 0) throw new Error(`Not in the contract:\n\n${found.join('\n\n')}`);
}
