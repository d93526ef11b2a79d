import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.js';

// Stands in for npm: reads the settings as the application does, which refuses what is wrong, and takes note of them.
const { cql } = readSettings();
const files = process.argv.filter((_, at, words) => words[at - 1]?.endsWith('-file'));
for (const file of files) readFileSync(file);
const { contactPoints, username, password, tlsCa } = cql;
const seen = { words: process.argv.slice(2, 4).join(' '), contactPoints, username, password, tlsCa };
appendFileSync(join(process.env['FAKE_AWS'] ?? '', 'npm.log'), `${JSON.stringify(seen)}\n`);
