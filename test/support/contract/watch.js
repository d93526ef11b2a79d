import { z } from 'zod';
import { EVENTS } from '../../../api/http/routes/latest.js';
import { objectionTo } from './answers.js';

/** @import { Answer } from './answers.js' */

/** What was answered against the contract since somebody last asked. @type {Set<string>} */
const objections = new Set();

/** @type {Set<Promise<void>>} */
const looking = new Set();

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

/** @param {() => Promise<void>} look at something that is not there yet */
export function watchLater(look) {
  // Who goes away before the end of an answer leaves nothing to look at.
  const done = look().catch(() => {});
  looking.add(done);
  void done.then(() => looking.delete(done));
}

/** @throws {Error} something was answered that the document does not have */
export async function settleWatch() {
  await Promise.all(looking);
  const said = [...objections];
  objections.clear();
  if (said.length > 0) throw new Error(`Not in the contract:\n\n${said.join('\n\n')}`);
}
