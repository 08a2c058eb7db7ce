/** What only looking after a store needs. */
export { backUp } from './backup.ts'
export { deriveAgain } from './derivation.ts'
export { fingerprintOf } from './derived-rows.ts'
export { scrub } from './scrub.ts'
export { verifyStore } from './verify.ts'
