import { expect, test } from '@jest/globals';
import { proposeOptions } from '../../../api/import/proposal.js';
import { dryRun } from '../../support/import/dry-run.js';
import { FIELD_FILES } from '../../support/import/files.js';

const NOW = Date.UTC(2026, 10, 28);

test.each(FIELD_FILES)(
  'Import proposal: $title: options are proposed, doubts are asked, and the file is read with them',
  async ({ content, format = 'csv', options, asks = [], answers = {}, first, last, samples }) => {
    const proposal = proposeOptions(Buffer.from(content), { format, now: NOW });
    const asked = proposal.questions.map(({ option }) => option).filter((option) => option !== 'device');
    expect({ options: proposal.options, asks: asked.sort() }).toEqual({ options, asks });
    const read = await dryRun(Buffer.from(content), { format, device: 'd', ...proposal.options, ...answers });
    expect(read.refused).toEqual([]);
    const rows = read.first.map(({ ts, sensor, value, unit }) => [ts, sensor, value, unit]);
    expect({ first: rows[0], last: rows.at(-1), samples: read.progress.samples }).toEqual({
      first,
      last,
      samples,
    });
  },
);
