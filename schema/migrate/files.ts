import { readdir, readFile } from 'node:fs/promises';
import { checkWindow, windowFor } from '../time-window.js';

const FOLDER = new URL('../migrations/', import.meta.url);

/**
 * @typedef {object} Migration
 * @property {number} version from the file's name, counting from 1 without a gap
 * @property {string} name the file's name
 * @property {string} text CQL of the file, with the placeholders `${window(SETTING)}` for a table's TTL and compaction, and
 *   `${keepTombstones}` of the dialect
 */

/**
 * CQL that differs between Cassandra and ScyllaDB. `dialectOf` selects the dialect of the server.
 *
 * @typedef {object} Dialect
 * @property {string} dropTombstones the table option that allows compaction to drop expired data early
 * @property {string} keepTombstones the options of a table with deletions, which keep tombstones until each replica has received them
 * @property {string} pastCache the end of a SELECT that bypasses the row cache, because its many rows would displace other cached rows
 */

/** @type {Record<'scylla' | 'cassandra', Dialect>} */
export const DIALECTS = {
  scylla: {
    dropTombstones: "tombstone_gc = {'mode': 'immediate'}",
    keepTombstones: "tombstone_gc = {'mode': 'timeout'} AND gc_grace_seconds = 864000",
    pastCache: ' BYPASS CACHE',
  },
  cassandra: {
    // gc_grace_seconds also limits how long nodes keep hints. With 0 there would be no hints, so it is one day.
    dropTombstones: 'gc_grace_seconds = 86400',
    keepTombstones: 'gc_grace_seconds = 864000',
    pastCache: '',
  },
};

/** @returns {Promise<Migration[]>} all migrations in the order of their versions */
export async function readMigrations() {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.cql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => ({
      version: Number(name.slice(0, 3)),
      name,
      text: await readFile(new URL(name, FOLDER), 'utf8'),
    })),
  );
  migrations.forEach(({ version, name }, at) => {
    if (version !== at + 1) throw new RangeError(`${name} should have the number ${at + 1}`);
  });
  return migrations;
}

/**
 * @param {Migration} migration
 * @param {Record<string, number>} days retention in days, by the name in the placeholders of the file
 * @param {Dialect} dialect
 * @returns {string[]} the statements of the file; each statement keeps the rules of time-window compaction
 * @throws {RangeError} when a statement breaks a rule
 */
export function statementsOf({ name, text }, days, dialect) {
  return text
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/\$\{window\((\w+)\)\}/g, (_, setting) => {
      const retention = days[setting];
      if (retention === undefined) throw new RangeError(`${name}: no retention is called ${setting}`);
      return windowOptions(retention, dialect);
    })
    .replaceAll(/\$\{keepTombstones\}/g, dialect.keepTombstones)
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean)
    .map((statement) => checked(statement, name));
}

/**
 * @param {number} retentionDays
 * @param {Dialect} dialect
 * @returns {string} all table options of a table with time-window compaction
 */
export function windowOptions(retentionDays, { dropTombstones }) {
  return `${retentionOptions(retentionDays)}\n  AND ${dropTombstones}`;
}

/**
 * @param {number} retentionDays
 * @returns {string} the table options that depend on the retention of a table with time-window compaction
 */
export function retentionOptions(retentionDays) {
  const { ttlSeconds, windowDays } = windowFor(retentionDays);
  return [
    `default_time_to_live = ${ttlSeconds}`,
    `compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': ${windowDays}}`,
  ].join('\n  AND ');
}

/**
 * @param {string} statement
 * @param {string} name
 * @returns {string} the unchanged statement
 * @throws {RangeError} when the statement breaks a rule of time-window compaction
 */
function checked(statement, name) {
  if (!statement.includes('TimeWindowCompactionStrategy')) return statement;
  const ttlSeconds = Number(/default_time_to_live\s*=\s*(\d+)/.exec(statement)?.[1] ?? 0);
  const unit = /'compaction_window_unit'\s*:\s*'(\w+)'/.exec(statement)?.[1];
  const size = Number(/'compaction_window_size'\s*:\s*'?(\d+)/.exec(statement)?.[1] ?? 0);
  const unitDays = { MINUTES: 1 / 1440, HOURS: 1 / 24, DAYS: 1 }[unit ?? ''] ?? 0;
  try {
    checkWindow({ ttlSeconds, windowDays: size * unitDays });
  } catch (error) {
    throw new RangeError(`${name}: ${/** @type {Error} */ (error).message}`);
  }
  return statement;
}
