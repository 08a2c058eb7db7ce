import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { forEachInSlices, splitIntoParts } from '../../src/search/slices.ts'

describe('work in slices', () => {
  it('uses one slice per turn of the event loop, for any amount of work', async () => {
    const done: string[] = []
    const work = (name: string): Promise<void> => forEachInSlices([1, 2, 3], () => void done.push(name), 0)
    let isOver = false
    const countTurns = async (): Promise<void> => {
      while (!isOver) {
        await turnOfLoop()
        done.push('|')
      }
    }

    const counting = countTurns()
    await Promise.all(['a', 'b', 'c'].map(work))
    isOver = true
    await counting

    expect(done.join('').replace(/\|+$/u, '')).toMatch(/^abc\|*a\|+b\|+c\|+a\|+b\|+c/u)
  })

  it('processes a list in parts, in order', () => {
    expect([...splitIntoParts([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]])
    expect([...splitIntoParts([], 2)]).toEqual([])
  })
})
