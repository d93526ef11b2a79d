/** The committed blocks of devices, hour by hour, for features that pass them on, and their texts in records. */
export { createHourCompletion } from './hour-completion.ts';
export {
  createTimeText,
  latestText,
  numberText,
  openBatchText,
  samplesOf,
  watermarkText,
} from './records.ts';
export { createBlockStore, otherParts } from './store.ts';
