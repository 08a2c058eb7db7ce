/** What only a process that writes needs. */
export { commitChanges } from './commit.ts'
export { scrubSoon } from './scrub.ts'
export { findKnown, insertVectors } from './turn-writing.ts'
