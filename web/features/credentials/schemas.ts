// Generated from the OpenAPI document by `npm run docs:reference`.

export interface Credential {
  device_id: string;
  /** The user name at the broker: the name or the id of the device, as the request had it. */
  account: string;
  /** Further devices whose topics the account may use. */
  devices: string[];
  issued_at: string;
  /** The time of the last new secret. */
  changed_at: string;
}
export interface IssuedCredential {
  device_id: string;
  /** The user name at the broker: the name or the id of the device, as the request had it. */
  account: string;
  /** Further devices whose topics the account may use. */
  devices: string[];
  issued_at: string;
  /** The time of the last new secret. */
  changed_at: string;
  /** The password at the broker. No other answer contains it. */
  secret: string;
}
