import { describe, expect, it } from 'vitest'
import { gate, rulesExtractor } from '../../../memory/learn/for-reference-agent.ts'
import { leftOut } from './left-out.ts'

const kept = async (prompt: string): Promise<readonly string[]> =>
  leftOut(prompt, gate(await rulesExtractor.extract({ text: prompt }))).map(({ content }) => content)

describe('what was not understood', () => {
  it('is kept as it stands when keeping was asked for', async () => {
    const prompt = 'Please keep these:\n- The sign says "¡Ojo!  97 % (±3)"\n- {x} ~> 7 !! 9'

    expect(await kept(prompt)).toEqual(['The sign says "¡Ojo!  97 % (±3)"', '{x} ~> 7 !! 9'])
  })

  it('is not kept when nobody asked', async () => {
    expect(await kept('{x} ~> 7 !! 9')).toEqual([])
  })

  it.each([
    'Please remember my gym is Nord. What is my gym?',
    'Please do not store this: the code is heron-5582.',
    'Earlier I had you save some things. Please read the file.',
    'Please save this. Imagine I had a boat.',
  ])('is no question, wish or secret: %s', async (prompt) => {
    expect(await kept(prompt)).toEqual([])
  })
})
