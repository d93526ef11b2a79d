/** Selects many sensors, and reads them on the same bins. */
export { addGroups, readAligned } from './aligned.ts';
export { byNames, selectSensors } from './sensors.ts';
