import { afterAll, beforeAll } from '@jest/globals';
import mqtt from 'mqtt';
import { startTestSystem } from '../system/index.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { TestSystem } from '../system/index.js' */

/**
 * One system for all tests of the file, its database, and one connection for all publications.
 *
 * @typedef {object} OneDevice
 * @property {TestSystem} system
 * @property {Client} database
 * @property {mqtt.MqttClient} client
 * @property {() => number} closed number of times that its connection was closed
 */

/** @param {Record<string, string>} [settings] @returns {OneDevice} available while tests run */
export function useOneDevice(settings) {
  let closed = 0;
  const context = /** @type {OneDevice} */ ({ closed: () => closed });
  beforeAll(async () => {
    context.system = await startTestSystem({ settings });
    context.database = await context.system.openDatabase();
    context.client = await mqtt.connectAsync(context.system.mqttUrl);
    context.client.on('close', () => closed++);
  });
  afterAll(async () => {
    await context.client?.endAsync(true);
    await context.database?.shutdown();
    await context.system?.stop();
  });
  return context;
}
