/** Every number, time and unit on the screen is written here: two views never write the same thing differently. */

export * from './format/hue.js';
export * from './format/instants.js';
export * from './format/lengths.js';
export * from './format/numbers.js';
