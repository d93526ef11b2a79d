/** Credentials of devices: their accounts, what each account may publish and read, and how an operator issues and revokes them. */
export { Accounts } from './accounts.ts';
export { createCredentialService, MAX_DEVICES, revokeBefore } from './credential-service.ts';
export { hashSecret } from './secret.ts';
export { canPublish, canSendFor, canSubscribe, deviceAccount } from './topic-permissions.ts';
