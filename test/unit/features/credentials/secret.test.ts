import { expect, test } from '@jest/globals';
import { hashSecret, isSecret, makeSecret } from '../../../../api/features/credentials/secret.ts';

const KNOWN = await hashSecret('secret');

test('Device secret: new: 32 random bytes, and no character that a shell or a URL must quote', () => {
  const secrets = Array.from({ length: 100 }, makeSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
});

test('Device secret: hashed twice: the two hashes differ, and each matches only this secret', async () => {
  const [one, other] = [await hashSecret('secret'), await hashSecret('secret')];
  expect(one).toMatch(/^\$7\$101\$[\w+/]{16}\$[\w+/]{86}==$/);
  expect(one).not.toBe(other);
  for (const hash of [one, other]) {
    expect(await isSecret('secret', hash)).toBe(true);
    expect(await isSecret(Buffer.from('secret'), hash)).toBe(true);
    for (const wrong of ['', 'Secret', 'secret ']) expect(await isSecret(wrong, hash)).toBe(false);
  }
});

// The hash comes from Mosquitto 2.0.11: mosquitto_passwd -b -c passwords pump right
test('Device secret: hash made by mosquitto_passwd: the right secret matches, a wrong one does not', async () => {
  const hash =
    '$7$101$/eIJv0S1aP7bAdxk$pdNJ8Wv2mIAkrAnQR4NSNdwtf5GuokukMn4N4MFY/LbbBI9aIPNLkWRtgGY6DeES/o7iYhVPUXFcCNC3ShNL0A==';
  expect(await isSecret('right', hash)).toBe(true);
  expect(await isSecret('wrong', hash)).toBe(false);
});

test.each([
  null,
  '',
  'secret',
  '$6$x$y',
  '$7$101$$',
  '$7$0$AAAAAAAAAAAAAAAA$AAAA',
  `$7$101$$${'A'.repeat(85)}`,
  // Hashes of 'secret' with a wrong kind, or with an iteration count that is not a positive number.
  `$6${KNOWN.slice(2)}`,
  KNOWN.replace('$101$', '$0$'),
  KNOWN.replace('$101$', '$-101$'),
  KNOWN.replace('$101$', '$x$'),
])('Device secret: malformed or missing hash (case %#): no secret matches', async (hash) => {
  for (const secret of ['', 'secret', Buffer.alloc(64)]) expect(await isSecret(secret, hash)).toBe(false);
});
