import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { masked, maskedInSteps } from '../../src/memory/learn/secrets.ts'
import { partsOf, Slices, type Steps } from '../../src/search/slices.ts'

/** Pauses at every step. */
const shortest = () => new Slices(0)

const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom('好'.repeat(600), 'word '.repeat(600), 'My name is Ann. ', 'password: hunter2x', 'sk-'.repeat(9)),
      fc.constantFrom('Always use tabs.\n', 'remember that the port is 5432. ', '4111 1111 1111 1111 ', '\u200b', ' '),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

describe('work in slices', () => {
  it('gives what the same work gives at once', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        // Both at a time, so that each is interrupted by the other.
        const inSlices = await Promise.all([one, other].map((said) => shortest().run(maskedInSteps(said))))

        expect(inSlices).toEqual([one, other].map(masked))
      }),
      { numRuns: 40 },
    )
  })

  it('gives each turn of the event loop one slice, however much work there is', async () => {
    const done: string[] = []
    function* work(name: string): Steps<void> {
      for (let step = 0; step < 3; step += 1) {
        done.push(name)
        yield
      }
    }
    let isOver = false
    const countTurns = async (): Promise<void> => {
      while (!isOver) {
        await nextTurn()
        done.push('|')
      }
    }

    const counting = countTurns()
    await Promise.all(['a', 'b', 'c'].map((name) => shortest().run(work(name))))
    isOver = true
    await counting

    expect(done.join('').replace(/\|+$/u, '')).toMatch(/^abc\|*a\|+b\|+c\|+a\|+b\|+c/u)
  })

  it('takes a list in parts, in order', () => {
    expect([...partsOf([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]])
    expect([...partsOf([], 2)]).toEqual([])
  })
})
