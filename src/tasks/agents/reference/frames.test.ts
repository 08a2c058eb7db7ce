import { describe, expect, it } from 'vitest'
import { isFrame, withoutFrame } from './frames.ts'

describe('frames', () => {
  it.each([
    'Please keep the following in memory/MEMORY.md for me.',
    'Nothing to remember here.',
    "I'm off to a meeting, please use memory/MEMORY.md.",
    'As agreed, here are the details of our move',
    'These are my current projects.',
    'I lost my notes.',
  ])('tell nothing: %s', (text) => {
    expect(isFrame(text)).toBe(true)
  })

  it.each([
    'My gym is Nord.',
    'I keep four hives behind the chapel.',
    'Please keep this: my gym is Nord.',
    'This is my sister Ana.',
    'I lost my passport in Lyon.',
    'Nothing beats oolong tea.',
  ])('do not swallow: %s', (text) => {
    expect(isFrame(text)).toBe(false)
  })

  it('leave what stands behind them', () => {
    expect(withoutFrame('into notes.md, with the following: our vet is Lund')).toBe('our vet is Lund')
    expect(withoutFrame('our motto: slow is smooth')).toBe('our motto: slow is smooth')
  })
})
