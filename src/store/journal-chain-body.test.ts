import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Belief } from '../beliefs/belief.ts'
import { readBody, writeBody } from './journal-chain.ts'
import { sample } from './sample-beliefs.contract.ts'

const text = fc.option(fc.string({ maxLength: 5 }))
const fields: fc.Arbitrary<Partial<Belief>> = fc.record({
  agent: text,
  subtype: fc.constantFrom(null, 'style', 'expertise'),
  confidence: fc.constantFrom(0, 0.5, 1),
  pinned: fc.boolean(),
  editedByPerson: fc.boolean(),
  supersededBy: text,
  proposedFor: text,
  candidate: fc.boolean(),
  resolvedAt: text,
  resolvedBy: text,
  participants: fc.array(fc.string()),
  relation: text,
  expertise: fc.constantFrom(null, { domain: 'rust', depth: 'expert' } as NonNullable<Belief['expertise']>),
})

it('a belief is read as it was written, short or with every field as earlier versions wrote it', () => {
  fc.assert(
    fc.property(fields, (given) => {
      const belief = sample({ id: 'b1', ...given })

      expect(readBody(writeBody(belief))).toEqual(belief)
      expect(readBody(JSON.stringify(belief))).toEqual(belief)
      expect(writeBody(belief).length).toBeLessThanOrEqual(JSON.stringify(belief).length)
    }),
  )
})
