import { z } from 'zod';
import { CONTRACTS } from '../../../api/features/index.ts';
import { type Answer, objectionTo } from './answers.ts';

const EVENTS = Object.assign({}, ...CONTRACTS.map(({ events }) => events));

/** Answers that violate the contract, since the last call of `settleWatch`. */
const objections: Set<string> = new Set();

const pendingChecks: Set<Promise<void>> = new Set();

export function watchAnswer(answer: Answer) {
  const objection = objectionTo(answer);
  if (objection) objections.add(objection);
}

/** @param event of `/stream` */
export function watchEvent({ event, data }: { event: string; data: unknown }) {
  const schema = EVENTS[event]?.schema;
  const error = schema ? schema.safeParse(data).error : null;
  if (!schema) objections.add(`The event ${event} of /stream is not described.`);
  if (error) objections.add(`The event ${event} of /stream: ${z.prettifyError(error).slice(0, 500)}`);
}

/** @param check an answer that has not arrived yet */
export function watchLater(check: () => Promise<void>) {
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
