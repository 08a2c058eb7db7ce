/** What only a process that writes needs. */
export { commitChanges } from './commit.ts'
export { scrubSoon } from './scrub.ts'
export { findKnown } from './turn-writing.ts'
