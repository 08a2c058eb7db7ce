/** The modules that check, rebuild and copy a store, loaded together when first needed. */
export { deriveAgain } from '../derivation.ts'
export { openJournalRecords } from '../journal-records.ts'
export { backUp } from './backup.ts'
export { fingerprintOf } from './derived-tables.ts'
export { verifyStore } from './verify.ts'
