import cassandra from 'cassandra-driver';

const { types } = cassandra;

/** UUID of version 1 (RFC 9562, section 5.1). Rows that belong to an instant have such ids. */
const TIMEUUID = /^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const newTimeId = (ms: number): Buffer => types.TimeUuid.fromDate(new Date(ms)).getBuffer();

/** @returns null: the text is no timeuuid */
export const parseTimeId = (text: string): Buffer | null =>
  TIMEUUID.test(text) ? types.TimeUuid.fromString(text).getBuffer() : null;

export const timeOfId = (id: Buffer): number => new types.TimeUuid(id).getDate().getTime();

/** Sorts before every id of this instant, and after every earlier id. */
export const firstIdOf = (ms: number): Buffer => types.TimeUuid.min(new Date(ms), 0).getBuffer();
