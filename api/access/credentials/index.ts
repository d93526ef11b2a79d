/** Credentials of devices: their accounts, what each account may publish and read, and how an operator issues and revokes them. */
export { Accounts } from './accounts.js';
export { createCredentialService, MAX_DEVICES, revokeBefore } from './credential-service.js';
export { canPublish, canSendFor, canSubscribe, deviceAccount } from './permissions.js';
export { hashSecret } from './secret.js';
