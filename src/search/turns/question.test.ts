import { afterEach, describe, expect, it } from 'vitest'
import { localDay } from '../../local-time.ts'
import { dateWindow, parseQuestion } from './question.ts'

describe('a question', () => {
  it('is distinguished from a statement by its form', () => {
    const isQuestion = (text: string): boolean => parseQuestion(text).isQuestion

    expect(
      ['Where is it?', 'which one was it', 'remind me of the name', 'ok, at what time do I call'].map(isQuestion),
    ).toEqual([true, true, true, true])
    expect(['I rented a kayak.', 'Write a poem about what matters'].map(isQuestion)).toEqual([false, false])
  })

  it('counts question words half', () => {
    expect([...parseQuestion('recommend a kayak').terms.values()]).toEqual([0.5, 1])
  })

  it('may name a speaker, whose name is then not a search word', () => {
    const { terms, speaker } = parseQuestion("What is Caroline's job?", ['Caroline', 'Melanie'])

    expect(speaker).toBe('Caroline')
    expect([...terms.keys()]).toEqual(['job'])
    expect(parseQuestion('Did Caroline meet Melanie?', ['Caroline', 'Melanie']).speaker).toBeNull()
    expect(parseQuestion('will it rain', ['Will']).speaker).toBeNull()
  })

  it('of a name alone is about the name', () => {
    expect([...parseQuestion('Caroline?', ['Caroline']).terms.keys()]).toEqual(['carolin'])
  })

  it('may ask for words of the assistant, for the past, a time or a number', () => {
    expect(parseQuestion('How did you recommend to structure the draft?').asksAssistant).toBe(true)
    expect(parseQuestion('What did Ana recommend, did I say?').asksAssistant).toBe(false)
    expect(parseQuestion('What did the assistant say about it?').asksAssistant).toBe(true)
    expect(parseQuestion('Remind me where I put the key.')).toMatchObject({ asksAssistant: false, asksEither: true })
    expect(parseQuestion('Where did I live before?').asksPast).toBe(true)
    expect(parseQuestion('When did we meet?').asksWhen).toBe(true)
    expect(parseQuestion('How many bikes do I own?').asksHowMany).toBe(true)
  })
})

const zone = process.env.TZ
afterEach(() => {
  process.env.TZ = zone
})

describe.each(['UTC', 'America/Halifax', 'Pacific/Auckland'])('the time that a question asks about, in %s', (name) => {
  const days = async (text: string): Promise<string | null> => {
    process.env.TZ = name
    const window = await dateWindow(text, new Date('2023-06-15T20:00:00'))
    const day = (time: number): string => localDay(new Date(time).toISOString())
    return window === null ? null : `${day(window.from)} ${day(window.to)}`
  }

  it('begins and ends at midnight', async () => {
    process.env.TZ = name

    const window = await dateWindow('Who came on May 3rd?', new Date('2023-06-15T20:00:00'))

    expect(window).toMatchObject({
      from: new Date(2023, 4, 2).getTime(),
      to: new Date(2023, 4, 5).getTime(),
    })
  })

  it.each([
    ['What did I do two weeks ago?', '2023-05-29 2023-06-05'],
    ['How often did I run in the last two weeks?', '2023-05-31 2023-06-15'],
    ['Where did she go in March?', '2023-03-01 2023-04-01'],
    ['What is planned for December?', '2022-12-01 2023-01-01'],
    ['Who came on May 3rd?', '2023-05-02 2023-05-05'],
    ['Who came on December 3rd?', '2022-12-02 2022-12-05'],
    ['Where was I last year?', '2022-01-01 2022-12-31'],
    ['Where did I live in 2019?', '2019-01-01 2019-12-31'],
    ['What happened last week?', '2023-06-04 2023-06-13'],
    ['What happened between March 1 and March 5?', '2023-02-28 2023-03-07'],
  ])('%s', async (question, expected) => {
    expect(await days(question)).toBe(expected)
  })

  it('is empty if the text names none', async () => {
    expect(await days('What colour is my bike?')).toBeNull()
    expect(await days('May I march on?')).toBeNull()
  })
})
