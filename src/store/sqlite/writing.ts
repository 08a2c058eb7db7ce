/** The modules that change a store or read its journal, loaded together when first needed: most processes only recall. */
export { requireWholeJournal, setHead } from './care/journal-head.ts'
export { scrub } from './care/scrub.ts'
export { applyInDryRun, commitChanges, isLargeCommit, reviewOldBeliefs } from './commit.ts'
export { openJournal } from './journal.ts'
export { findKnown, judgeTurns } from './turns/turn-writing.ts'
