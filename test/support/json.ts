/** JSON of an answer or of another program. The expectations of a test check its shape. */
// biome-ignore lint/suspicious/noExplicitAny: `unknown` would need a guard at each member that an expectation reads.
export type Json = any;
