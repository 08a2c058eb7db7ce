import { describe, expect, it } from 'vitest'
import { hearing } from './hearing.ts'

const heard = async (text: string): Promise<readonly string[]> =>
  (await hearing.extract({ text })).candidates.map(({ content }) => content)

describe('hearing', () => {
  it('keeps the spacing as it was written', async () => {
    expect(await heard('Our motto is "slow  is   smooth".')).toEqual(['Our motto is "slow  is   smooth".'])
  })

  it.each([
    'In an earlier session I had you save some things about me in `memory/MEMORY.md`.',
    'I asked you to remember my address last time.',
    'I told you about myself and you wrote it down.',
  ])('takes nothing that is about the talk itself: %s', async (text) => {
    expect(await heard(text)).toEqual([])
  })
})
