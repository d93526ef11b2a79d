import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { readStructure, STRUCTURE_FILE, structureOf } from '../../../../tools/images/structure.ts';

test('Pictures of the documents: compared with the views: each shows the present structure; otherwise run npm run docs:images', async () => {
  expect(JSON.parse(await readFile(STRUCTURE_FILE, 'utf8'))).toEqual(await readStructure());
});

test('Structure of a view: a new element, class or column counts; logic and data do not', () => {
  const view = (inner: string) => `<section class="figures">${inner}</section>`;
  const before = structureOf(view('<h2>Sensors</h2>'));
  expect(before).toEqual(['section.figures', 'h2: Sensors']);
  for (const changed of [
    '<h2>Devices</h2>',
    '<h2>Sensors</h2><th>Site</th>',
    '<h2>Sensors</h2><p class="note">',
    "<h2>Sensors</h2>{ label: 'Site', class: 'col-site' }",
  ])
    expect(structureOf(view(changed))).not.toEqual(before);
  for (const same of ['<h2>Sensors</h2>{count}', '<h2 id={id}>Sensors</h2>'])
    expect(structureOf(view(same))).toEqual(before);
});
