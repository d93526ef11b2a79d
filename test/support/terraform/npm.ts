import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.ts';

// Replaces npm: it reads the settings as the application does, which refuses wrong ones, and records them.
const { cql } = readSettings();
const files = process.argv.filter((_, index, words) => words[index - 1]?.endsWith('-file'));
for (const file of files) readFileSync(file);
const { contactPoints, username, password, tlsCa } = cql;
const call = { words: process.argv.slice(2, 4).join(' '), contactPoints, username, password, tlsCa };
appendFileSync(join(process.env['FAKE_AWS'] ?? '', 'npm.log'), `${JSON.stringify(call)}\n`);
