/** Kind of the events of the stream that report corrections. */
export const CORRECTION_EVENT = 'correction';
