import { describe, expect, it } from 'vitest'
import { asksToStore, confirmsStoring, saysUnknown } from './phrases.ts'

describe('an answer that says it does not know', () => {
  it.each([
    "I don't know your birthday.",
    'I don’t have any information about your shoe size.',
    'You have not told me that.',
    "That isn't something you mentioned.",
    'There is no record of a pet in memory/MEMORY.md.',
    'I could not find anything about that.',
    "I can't find it in my notes.",
    'Your favourite colour is unknown to me.',
    'Nothing is stored about your sister.',
    'The file does not mention it.',
    "You haven't shared your address.",
    'I am unable to recall that.',
    '我不知道您的生日。',
  ])('%s', (answer) => {
    expect(saysUnknown(answer)).toBe(true)
  })

  it.each([
    'Your birthday is May 4.',
    'I know it: blue.',
    'It is recorded in the file: NeonDB.',
    'Your mentor is Elena, as you told me.',
    '',
  ])('not: %s', (answer) => {
    expect(saysUnknown(answer)).toBe(false)
  })
})

describe('a prompt that asks to keep something', () => {
  it.each([
    'Please remember the following: my dog is Bo.',
    'Remember that I live in Turin.',
    "I'd like you to remember some important information. Save it to memory/MEMORY.md.",
    'Here is my setup. Could you store it in your memory?',
    'Write this down: 42.',
    'My editor is Helix. Please note it.',
    '请记住我的名字是李雷。',
  ])('%s', (prompt) => {
    expect(asksToStore(prompt)).toBe(true)
  })

  it.each([
    'Do you remember what my dog is called?',
    'What do you remember about me?',
    'Please do not save this: my salary is 5.',
    "Don't store this anywhere.",
    'I saved some information earlier in memory/MEMORY.md. Please read that file and answer.',
    'What programming language am I learning?',
    'Hello!',
  ])('not: %s', (prompt) => {
    expect(asksToStore(prompt)).toBe(false)
  })

  it('asks for it even when something else is not to be kept', () => {
    expect(asksToStore('Remember that I drink tea. Do not save my salary.')).toBe(true)
  })
})

describe('an answer that confirms', () => {
  it.each([
    "I've saved it.",
    'Got it, stored in memory/MEMORY.md.',
    'Noted: five facts.',
    "Done! I'll remember.",
    '已保存。',
  ])('%s', (answer) => {
    expect(confirmsStoring(answer)).toBe(true)
  })

  it.each(['', 'What a nice language!', 'I could not save the file.', 'I was unable to store this.'])(
    'not: %s',
    (answer) => {
      expect(confirmsStoring(answer)).toBe(false)
    },
  )
})
