import { toldOf } from '../telling.js';
import { noteSettled } from './settled.js';

/**
 * @param {object} parts
 * @param {import('../measurements.js').Measurements} parts.measurements
 * @param {import('../strays.js').Strays} parts.strays
 * @param {import('../dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('../../vitals.js').Vitals} parts.vitals
 * @returns {import('./index.js').Way}
 */
export function createMeasurementsWay({ measurements, strays, deadLetters, vitals }) {
  return {
    async accept(message, identity, { device: name }) {
      const began = performance.now();
      const { payload, contentType, retained, receivedAt } = message;
      const basket = measurements.read(payload, contentType, receivedAt);
      const known = await measurements.store(identity, basket, retained ? null : receivedAt);
      if (!known) strays.remember(identity.id, message);
      await deadLetters.put(message, name, basket.refused);
      noteSettled(vitals, basket, began);
      return 'accepted';
    },

    async replay({ payload, contentType, receivedAt, now, isRefused }, identity) {
      const basket = measurements.read(payload, contentType, receivedAt, now);
      if (isRefused) basket.keepOnly(isRefused);
      await measurements.store(identity, basket, null);
      return toldOf(basket);
    },
  };
}
