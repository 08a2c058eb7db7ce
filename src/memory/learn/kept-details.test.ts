import { describe, expect, it } from 'vitest'
import { keptDetails } from './kept-details.ts'

describe('what an old statement still says after a correction', () => {
  it.each([
    [
      'I take 75 mg of levothyroxine in the morning.',
      'the levothyroxine is 95 mg now.',
      'I take 95 mg of levothyroxine in the morning.',
    ],
    [
      'Hearing: 14 April 2026, 10:30, courtroom 6',
      'The hearing has been moved to 22 April 2026.',
      'Hearing: 22 April 2026, 10:30, courtroom 6',
    ],
    [
      'We rehearse in the parish hall on Mondays and Wednesdays.',
      'we rehearse on Fridays from now on.',
      'We rehearse in the parish hall on Fridays.',
    ],
    [
      'The nightly load starts at 02:15 and takes 50 minutes.',
      'The nightly load starts at 03:40 now.',
      'The nightly load starts at 03:40 and takes 50 minutes.',
    ],
  ])('%s / %s', (before, said, after) => {
    expect(keptDetails(before, said)).toBe(after)
  })

  it('takes the words that are named as wrong out of it', () => {
    expect(keptDetails('The parcel goes to 14 Mill Lane 88b, Otley', "it's 88c, not 88b.", ['88b'])).toBe(
      'The parcel goes to 14 Mill Lane 88c, Otley',
    )
  })

  it('is added in brackets where the correction says more than the value', () => {
    expect(
      keptDetails('The launch is on 3 May in the big hall.', 'the launch is on 5 May because the roof leaks.'),
    ).toBe('the launch is on 5 May because the roof leaks. [The launch is on 5 May in the big hall.]')
  })

  it.each([
    ['the correction says all of it again', 'The release date is May 7.', 'the release date is May 21 now.'],
    ['it gives a name that may contradict it', 'The flight is on 3 May to Rome.', 'The flight is on 9 June to Oslo.'],
    ['no value is told by its form', 'My dentist is Dr. Lee in Hove.', 'My dentist is Dr. Rao now.'],
    ['two values may be meant', 'Open from 9:00 to 17:00 in winter.', 'the shop opens at 10:00 now.'],
  ])('stands aside where %s', (_why, before, said) => {
    expect(keptDetails(before, said)).toBeNull()
  })
})
