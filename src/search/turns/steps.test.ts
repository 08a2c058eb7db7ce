import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stepRange, stepsNamed, withoutSteps } from './steps.ts'

describe('the steps that a text names', () => {
  it.each([
    ['What happened at step 12?', [12]],
    ['Compare steps 3, 5 and 7.', [3, 5, 7]],
    ['Between turns 3-6 the file was moved.', [3, 4, 5, 6]],
    ['From step 10 to step 60.', [10, 60]],
    ['Step #4, then turn [9].', [4, 9]],
    ['step index 2', [2]],
    ['It took 40 steps and 3 turns of the screw.', []],
    ['At step 3 and 4 steps later.', [3]],
    ['step 3.5', []],
  ])('%s', (text, steps) => {
    expect(stepsNamed(text)).toEqual(steps)
  })

  it.each([
    ['What failed between step 3 and step 9?', { from: 3, to: 9 }],
    ['What did the agent know before step 9?', { from: 0, to: 9 }],
    ['What changed after the step 12?', { from: 12, to: Number.POSITIVE_INFINITY }],
    ['What happened in steps 4 to 6?', { from: 4, to: 6 }],
    ['What happened at step 12?', null],
  ])('are limited by "%s"', (text, range) => {
    expect(stepRange(text)).toEqual(range)
  })

  it('are removed from the text, and nothing else is', () => {
    expect(withoutSteps('Why was config.yaml edited at steps 3 and 4?').replace(/\s+/gu, ' ')).toBe(
      'Why was config.yaml edited at ?',
    )
    fc.assert(fc.property(fc.string(), (text) => stepsNamed(text).length > 0 || withoutSteps(text) === text))
  })
})
