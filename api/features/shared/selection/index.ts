/** Selects many sensors, and reads them on the same bins. */
export { addGroups, readAligned } from './aligned.ts';
export { splitByPlace } from './places.ts';
export { byNames, type SelectedSensor, selectSensors } from './sensors.ts';
