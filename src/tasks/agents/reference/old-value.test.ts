import { describe, expect, it } from 'vitest'
import { withoutOldValue } from './old-value.ts'

describe('a correction without what it corrects', () => {
  it.each([
    ['The release is on May 21, not May 7.', 'The release is on May 21.'],
    ['My editor is not Vim but Helix.', 'My editor is Helix.'],
    ['The meetup moved from Wednesday to Thursday.', 'The meetup moved to Thursday.'],
    ['My editor is Helix now; I no longer use Vim.', 'My editor is Helix now.'],
    ['Backups run at 03:30 instead of 02:00.', 'Backups run at 03:30.'],
    ['The owner is Marta now (was Jonas).', 'The owner is Marta now.'],
    ['Hollis cancelled, so the speaker is Imani.', 'the speaker is Imani.'],
  ])('%s', (text, expected) => {
    expect(withoutOldValue(text)).toBe(expected)
  })

  it.each([
    'Deploys start at noon, not before.',
    'The sign says "left, not right".',
    'I do not eat meat.',
    'My train goes from Mainz to Worms.',
  ])('is the whole of: %s', (text) => {
    expect(withoutOldValue(text)).toBe(text)
  })
})
