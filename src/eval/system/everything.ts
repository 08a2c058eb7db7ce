import { controlSystem } from './control.ts'
import type { System } from './system.ts'

/** Control: what the boundaries alone achieve when nothing is ever left out. */
export const everythingSystem = (): System =>
  controlSystem(
    { name: 'everything', description: 'control: returns every current belief in scope, whatever the message' },
    (corpus, query) => corpus.candidates(query),
  )
