import { z } from 'zod';
import { Id, Name, pageOf, Time } from '../../http/index.ts';
import { MAX_DEVICES } from './credential-service.ts';

const credential = {
  device_id: Id,
  account: Name.meta({
    description: 'The user name at the broker: the name or the id of the device, as the request had it.',
  }),
  devices: z.array(Name).meta({ description: 'Further devices whose topics the account may use.' }),
  issued_at: Time,
  changed_at: Time.meta({ description: 'The time of the last new secret.' }),
};

const Credential = z.strictObject(credential);

const IssuedCredential = z.strictObject({
  ...credential,
  secret: z.string().meta({ description: 'The password at the broker. No other answer contains it.' }),
});

const WantedCredential = z
  .strictObject({
    account: Name.meta({ description: 'The device: a UUID in lower case, or a name.' }),
    devices: z.array(Name).max(MAX_DEVICES).optional().meta({
      description: 'Further devices whose topics the account may use, such as those behind a gateway.',
    }),
  })
  .meta({ examples: [{ account: 'gateway-7', devices: ['pump', 'valve'] }] });

export const SCHEMAS = {
  Credential,
  CredentialPage: pageOf(Credential),
  IssuedCredential,
  WantedCredential,
};
