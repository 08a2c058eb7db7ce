import { describe, expect, it } from 'vitest'
import { announcementBefore, asksForTheRest, isAnnouncement, workGivenIn } from './announcements.ts'

describe('what stands before the statements', () => {
  it.each([
    ['Please remember this about my garden and save it in notes/garden.md: ', 'My rose is Peace.'],
    ['Could you put that into my notes, together with the following: ', 'my vet is Dr. Obi'],
    ['Some news for memory/MEMORY.md: ', 'we open at ten'],
  ])('ends at its colon: %s', (before, statement) => {
    expect(announcementBefore(`${before}${statement}`)).toBe(before.length)
  })

  it.each(['My notes: buy milk', 'The list: eggs and ham', 'Judge: the Hon. R. Okafor'])(
    'is not an entry: %s',
    (text) => {
      expect(announcementBefore(text)).toBe(0)
    },
  )
})

describe('a sentence about what is to be kept', () => {
  it.each(['As agreed, here are the facts about our move.', 'Nothing worth remembering here.', 'I lost my list.'])(
    'says nothing itself: %s',
    (text) => {
      expect(isAnnouncement(text)).toBe(true)
    },
  )

  it.each(['I lost my wedding ring.', 'Here is where I live: Turku', 'My list of plants is long.'])(
    'is not one about something else: %s',
    (text) => {
      expect(isAnnouncement(text)).toBe(false)
    },
  )

  it('may ask for the rest of the message', () => {
    expect(asksForTheRest('hey can you write this down for me')).toBe(true)
    expect(asksForTheRest('Remember it takes two weeks.')).toBe(false)
  })
})

describe('text that was given to be worked on', () => {
  it('stands behind the colon, or below it', () => {
    expect(workGivenIn('Please shorten this text: The bank was founded in 1903.')).toBe('here')
    expect(workGivenIn('Translate the following:')).toBe('below')
  })

  it('ends with its quotation marks', () => {
    expect(workGivenIn("Check this sentence: 'We meet at noon.'")).toBeNull()
  })
})
