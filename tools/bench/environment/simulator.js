import { fileURLToPath } from 'node:url';
import { startChild } from '../process/child.js';

const SIMULATOR = fileURLToPath(new URL('../../../simulator/index.js', import.meta.url));

/**
 * The simulator as `npm run simulator` runs it: each sensor measures once a second, and each device sends that at once.
 *
 * @param {object} options
 * @param {string} options.url of the broker
 * @param {number} options.devices
 * @param {number} options.sensors of each
 * @param {string} options.log path of the file
 */
export const startSimulator = ({ url, devices, sensors, log }) =>
  startChild(SIMULATOR, {
    title: 'simulator',
    log,
    args: [
      '--broker',
      url,
      '--devices',
      `${devices}`,
      '--sensors',
      `${sensors}`,
      '--interval',
      '1s',
      '--batch',
      '1s',
      '--seed',
      '1',
    ],
    isReady: () => 'running',
  });
