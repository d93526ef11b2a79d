import { afterAll, beforeAll } from '@jest/globals';
import mqtt from 'mqtt';
import { startTestSystem } from './system.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { TestSystem } from './system.js' */

/**
 * One system for all tests of the file, its database, and one connection over which all of them publish.
 *
 * @typedef {object} OneDevice
 * @property {TestSystem} system
 * @property {Client} database
 * @property {mqtt.MqttClient} client
 * @property {() => number} closed how often its connection was closed
 */

/** @param {Record<string, string>} [settings] @returns {OneDevice} there while tests run */
export function useOneDevice(settings) {
  let closed = 0;
  const here = /** @type {OneDevice} */ ({ closed: () => closed });
  beforeAll(async () => {
    here.system = await startTestSystem({ settings });
    here.database = await here.system.openDatabase();
    here.client = await mqtt.connectAsync(here.system.mqttUrl);
    here.client.on('close', () => closed++);
  });
  afterAll(async () => {
    await here.client?.endAsync(true);
    await here.database?.shutdown();
    await here.system?.stop();
  });
  return here;
}
